"""Spans of refreshes, in memory; and that nothing is loaded where nobody asked."""

from __future__ import annotations

import logging
import subprocess
import sys
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from streamtables.catalog.models import Step, new_id
from streamtables.observe.observer import Observer
from streamtables.observe.traces import Traces, is_wanted
from tests.support.settings import settings_with
from tests.unit.catalog.builders import START, record

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(exporter: InMemorySpanExporter) -> Traces:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Traces(provider)


def test_a_refresh_is_one_span_with_its_steps_below(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    steps = (Step("choose", 0.125), Step("compute", 1.5), Step("apply", 0.25))
    done = record(
        new_id(), state="applied", mode="differential", seconds=2.0, steps=steps, rows_inserted=3
    )
    Observer(traces=traces).refresh_ended("revenue", done)
    *children, parent = exporter.get_finished_spans()
    assert parent.name == "refresh revenue"
    assert parent.attributes is not None
    assert parent.attributes["streamtables.refresh_id"] == done.id
    assert parent.attributes["streamtables.rows_inserted"] == 3
    assert parent.status.status_code is StatusCode.UNSET
    began = int(START.timestamp()) * 10**9
    assert (parent.start_time, parent.end_time) == (began, began + 2 * 10**9)
    assert [child.name for child in children] == ["choose", "compute", "apply"]
    assert {child.parent.span_id for child in children if child.parent} == {
        parent.context.span_id if parent.context else 0
    }
    at = began
    for child, step in zip(children, steps, strict=True):
        assert child.start_time == at
        at += int(step.seconds * 10**9)
        assert child.end_time == at


def test_a_failed_refresh_is_a_failed_span_that_quotes_nothing(
    traces: Traces, exporter: InMemorySpanExporter
) -> None:
    failed = record(
        new_id(),
        state="failed",
        error_code="ST-1401",
        error_text="the value CANARY-4711 cannot be cast",
        reason_text="CANARY-4711",
        started_at=START + timedelta(microseconds=5),
    )
    Observer(traces=traces).refresh_ended("t", failed)
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert "CANARY" not in span.to_json()
    assert "ST-1401" in span.to_json()


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "x"}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_the_standard_variables_say_whether_traces_are_wanted(
    environment: dict[str, str], wanted: bool
) -> None:
    assert is_wanted(environment) == wanted


@pytest.mark.parametrize(
    "environment",
    [{"OTEL_TRACES_EXPORTER": "zipkin"}, {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}],
)
def test_what_cannot_be_sent_is_said(
    environment: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "streamtables"):
        assert Traces.configured(environment) is None
    assert caplog.records[0].message == "no traces are sent"


def test_missing_packages_are_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with caplog.at_level(logging.WARNING, "streamtables"):
        assert Traces.configured(ENDPOINT) is None
    assert "streamtables[traces]" in caplog.records[0].fields["reason"]  # type: ignore[attr-defined]


PROGRAM = """
import sys
from streamtables.api import StreamTables
with StreamTables(sys.argv[1]) as db:
    wanted = db._around.observer.traces is not None
print(wanted, any(name.startswith("opentelemetry") for name in sys.modules))
"""


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "False False"), ({"OTEL_TRACES_EXPORTER": "console"}, "True True")],
)
def test_nothing_is_loaded_unless_it_is_asked_for(
    tmp_path: Path, environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == said


def test_spans_arrive_where_the_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        place = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", place)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        observer = Observer.of(settings_with())
        observer.refresh_ended("revenue", record(new_id(), state="applied", mode="full"))
        observer.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    [(path, body)] = received
    assert path == "/v1/traces"
    assert b"refresh revenue" in body
    assert b"streamtables" in body
