"""Planted secrets are found neither in spans nor in Spark's configuration nor among processes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.session import SparkSessions
from streamtables.errors import StreamTablesError
from streamtables.observe.traces import Traces
from tests.security.test_secrets import CANARY, HOOK, TOKEN, files_hold_no_secret
from tests.support.processes import command_line, descendants

pytestmark = [pytest.mark.spark, pytest.mark.postgres]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        monkeypatch.setenv("SHOP_URL", started.url_of("postgres", password=CANARY))
        monkeypatch.setenv("STREAMTABLES_WEB_TOKEN", TOKEN)
        monkeypatch.setenv("STREAMTABLES_WEBHOOK_URL", HOOK)
        monkeypatch.setenv("STREAMTABLES_WEBHOOK_RETRIES", "0")
        with psycopg.connect(started.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE items (id int PRIMARY KEY, a int)")
            connection.execute("INSERT INTO items VALUES (1, 1), (2, 1)")
        yield started


def test_spans_configuration_and_processes(
    spark_sessions: SparkSessions,
    server: PostgresServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spark = spark_sessions.get()
    with StreamTables(tmp_path / "w", spark=spark) as db:
        db._around.observer.traces = Traces(provider)
        # The first copy goes through Java, with the password.
        db.add_source("items", postgres="${env:SHOP_URL}", table="items", capture="triggers")
        db.create("n", "SELECT a, count(*) AS n FROM items GROUP BY a")
        assert db.refresh("n").outcome == "applied"
        server.stop(how="immediate")
        with pytest.raises(StreamTablesError) as failed:
            db.refresh("n", full=True)
        server.start()
    spans = [span.to_json() for span in exporter.get_finished_spans()]
    assert len(spans) > 2
    options = [f"{row.key}={row.value}" for row in spark.sql("SET -v").collect()]
    options += [f"{row.key}={row.value}" for row in spark.sql("SET").collect()]
    options += [f"{key}={value}" for key, value in spark.conf.getAll.items()]
    assert len(options) > 100
    below = [one.pid for one in descendants(os.getpid())]
    commands = [command_line(pid) for pid in (os.getpid(), *below)]
    assert any("java" in line for line in commands)
    said = [failed.value.message, failed.value.detail, failed.value.hint, caplog.text]
    assert not [text for text in (*spans, *options, *commands, *said) if CANARY in text]
    files_hold_no_secret(tmp_path)
