"""The webhook against a real server on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import ConfigError
from streamtables.observe import declared as metric
from streamtables.observe.counts import Counts
from streamtables.observe.notices import Notice, notice_of
from streamtables.observe.observer import Observer
from streamtables.observe.webhook import Patience, Webhook
from tests.support.settings import settings_with
from tests.unit.catalog.builders import START

TOKEN = "token-4711"
SUSPENDED = Event(START, "suspended", "Spark cannot run (ST-1401). 'CANARY'", "id", "revenue")


@dataclass
class Receiver:
    """A server that keeps what it is sent; the first answers may be told."""

    answers: list[int] = field(default_factory=list)
    received: list[Any] = field(default_factory=list)
    asked_at: list[float] = field(default_factory=list)
    gate: Flag = field(default_factory=Flag)
    port: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/{TOKEN}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    told = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.asked_at.append(monotonic())
            told.gate.wait(10)
            status = told.answers.pop(0) if told.answers else 204
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if status < 300:
                told.received.append((self.path, json.loads(body)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.port = server.server_port
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield told
    told.gate.set()
    server.shutdown()
    server.server_close()
    thread.join()


def until(check: Any, seconds: float = 10.0) -> None:
    end = monotonic() + seconds
    while not check():
        assert monotonic() < end, "it did not happen"
        sleep(0.01)


def notice(text: str = "x") -> Notice:
    return notice_of(Event(START, "verify-difference", text, "id", "t"))


def test_a_recorded_event_arrives_without_what_it_must_not_say(
    receiver: Receiver, tmp_path: Path
) -> None:
    with StreamTables(tmp_path, settings=settings_with(webhook_url=receiver.address)) as db:
        held = Event(START, "held", "nobody is told of this one", "id", "revenue")
        db._catalog.record_events([held, SUSPENDED])
        until(lambda: receiver.received)
        counts = db._around.observer.counts
        until(lambda: counts.value(metric.SINK_SENT, "webhook") == 1)
    assert receiver.received == [
        (
            f"/hooks/{TOKEN}",
            {
                "at": "2030-01-01T00:00:00+00:00",
                "kind": "suspended",
                "topic": "suspended",
                "level": "error",
                "subject": "revenue",
                "text": "it is suspended; `streamtables events` says why (ST-1401)",
            },
        )
    ]


def test_everything_that_people_are_to_be_told_of_arrives_in_order(receiver: Receiver) -> None:
    observer = Observer()
    observer.webhook = Webhook(receiver.address, observer.counts, Patience(5, 0))
    kinds = [
        "change_buffer_backpressure",
        "freshness-at-risk",
        "freshness-late",
        "suspended",
        "fell-back-to-full",
        "slot-lost",
        "slot-too-large",
        "resnapshot",
        "verify-difference",
    ]
    observer.happened([Event(START, kind, kind, "id", "t") for kind in kinds])
    observer.close()
    assert [body["kind"] for _, body in receiver.received] == kinds
    assert all(body["topic"] for _, body in receiver.received)


def test_a_reference_to_something_else_than_http_is_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "hook"
    secret.write_text(f"file://{tmp_path}/x")
    counts = Counts()
    webhook = Webhook(f"${{file:{secret}}}", counts, Patience(2, 0))
    webhook.send(notice())
    until(lambda: counts.value(metric.SINK_DROPPED, "webhook") == 1)
    webhook.close()
    assert counts.value(metric.SINK_SENT, "webhook") == 0


def test_a_server_that_fails_is_tried_again_ever_later(receiver: Receiver) -> None:
    receiver.answers = [500, 503]
    counts = Counts()
    webhook = Webhook(receiver.address, counts, Patience(2, 3), first_delay=0.1)
    webhook.send(notice())
    until(lambda: receiver.received)
    first, second, third = receiver.asked_at
    assert second - first >= 0.1
    assert third - second >= 0.2
    webhook.close()
    assert counts.value(metric.SINK_RETRIES, "webhook") == 2
    assert counts.value(metric.SINK_SENT, "webhook") == 1
    assert counts.value(metric.SINK_DROPPED, "webhook") == 0


def test_what_is_given_up_is_counted_and_logged_without_the_address(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [500, 500]
    counts = Counts()
    with caplog.at_level(logging.DEBUG, "streamtables"):
        webhook = Webhook(receiver.address, counts, Patience(2, 1), first_delay=0.01)
        webhook.send(notice())
        until(lambda: counts.value(metric.SINK_DROPPED, "webhook") == 1)
        webhook.close()
    (line,) = caplog.records
    assert line.message == "webhook notice dropped"
    assert line.fields["reason"] == "it answered 500"  # type: ignore[attr-defined]
    assert TOKEN not in str(line.__dict__)
    assert receiver.received == []


def test_a_server_that_is_not_there_says_so_without_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counts = Counts()
    webhook = Webhook(f"http://127.0.0.1:1/{TOKEN}", counts, Patience(2, 0))
    webhook.send(notice())
    until(lambda: counts.value(metric.SINK_DROPPED, "webhook") == 1)
    webhook.close()
    assert caplog.records[0].fields["reason"] == "URLError"  # type: ignore[attr-defined]
    assert TOKEN not in str([line.__dict__ for line in caplog.records])


def test_a_full_queue_drops_the_newest_and_keeps_nobody_waiting(receiver: Receiver) -> None:
    receiver.gate.clear()
    counts = Counts()
    webhook = Webhook(receiver.address, counts, Patience(10, 0), room=2)
    webhook.send(notice("first"))
    until(lambda: receiver.asked_at)
    began = monotonic()
    for text in ("second", "third", "fourth", "fifth"):
        webhook.send(notice(text))
    assert monotonic() - began < 1
    assert counts.value(metric.SINK_DROPPED, "webhook") == 2
    receiver.gate.set()
    webhook.close()
    assert [body["text"] for _, body in receiver.received] == ["first", "second", "third"]


def test_a_reference_is_followed_when_it_is_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_ADDRESS", receiver.address)
    webhook = Webhook("${env:HOOK_ADDRESS}", Counts(), Patience(2, 0))
    webhook.send(notice())
    until(lambda: receiver.received)
    webhook.close()


def test_the_address_is_shown_nowhere() -> None:
    settings = settings_with(webhook_url=f"https://hooks.example/{TOKEN}")
    assert TOKEN not in repr(settings)
    with pytest.raises(ConfigError) as refused:
        settings_with(webhook_url=f"ftp://{TOKEN}")
    assert TOKEN not in str(refused.value) + refused.value.detail + refused.value.hint
