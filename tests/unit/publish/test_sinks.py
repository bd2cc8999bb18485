"""Pushing: to a webhook, to Kafka by a client that stands in, retries and the courier."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from streamtables.errors import DeliveryError, EnvironmentFaultError
from streamtables.publish import webhook_sink
from streamtables.publish.attendance import Attendance
from streamtables.publish.courier import EVERY, Courier
from streamtables.publish.delivery import wait_after
from streamtables.publish.kafka_sink import KafkaSink, installed_producer
from tests.support.published import Shelf
from tests.unit.catalog.builders import START


class Receiver(ThreadingHTTPServer):
    """Takes posts; refuses as many as it is told to."""

    refuse = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, dict[str, Any]]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        receiver = self.server
        assert isinstance(receiver, Receiver)
        receiver.seen.append((self.headers["Idempotency-Key"], body))
        receiver.refuse -= 1
        self.send_response(503 if receiver.refuse >= 0 else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    server = Receiver()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HOOK", f"http://127.0.0.1:{server.server_port}/secret-token")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hooked(shelf: Shelf, receiver: Receiver) -> Shelf:
    shelf.db.publish("t", "p")
    shelf.db.subscribe("p", "hook", to={"kind": "webhook", "address": "${env:HOOK}"})
    return shelf


def test_a_webhook_gets_each_change_and_then_nothing(hooked: Shelf, receiver: Receiver) -> None:
    hooked.append("t", (3, "c"))
    [done] = hooked.db.push()
    assert (done.rows, done.version, done.error) == (1, 1, None)
    [(key, body)] = receiver.seen
    assert key == f"{body['key']}:0"
    assert (body["after"], body["upto"], body["last"]) == (0, 1, True)
    assert body["rows"] == [{"weight": 1, "row": {"id": 3, "note": "c"}}]
    assert hooked.db.push() == []
    text = hooked.db.metrics_text()
    assert 'publication_rows_total{publication="p",sink="webhook"} 1.0' in text
    # From 0 on: the first failure is an increase to those who compute one.
    assert 'publication_failures_total{publication="p",sink="webhook"} 0.0' in text


@pytest.mark.fault(
    "receivers",
    "a webhook refuses",
    step="push",
    seen="event `push-failed`, ST-3004",
    recovery="by itself, with growing pauses; the key is the same",
)
def test_what_did_not_arrive_is_sent_again_under_the_same_key(
    hooked: Shelf, receiver: Receiver
) -> None:
    receiver.refuse = 1
    hooked.append("t", (3, "c"))
    [done] = hooked.db.push()
    assert isinstance(done.error, DeliveryError)
    # Meanwhile the table moves on: the window that was offered keeps its bounds.
    hooked.append("t", (4, "d"))
    [status] = hooked.db.publications()[0].subscribers
    assert status.state == "failing"
    [done] = hooked.db.push()
    assert (done.error, done.version) == (None, 2)
    first, again, then = receiver.seen
    assert first == again
    assert (then[1]["after"], then[1]["upto"]) == (1, 2)
    kinds = [e.kind for e in reversed(hooked.db.events("t")) if e.kind.startswith("push")]
    assert kinds == ["push-failed", "push-recovered"]
    assert not any("secret-token" in e.text for e in hooked.db.events())


def test_a_window_is_sent_in_parts(
    hooked: Shelf, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sink, "PART_ROWS", 2)
    hooked.append("t", *((n, "x") for n in range(10, 15)))
    hooked.db.push()
    assert [(b["part"], len(b["rows"]), b["last"]) for _, b in receiver.seen] == [
        (0, 2, False),
        (1, 2, False),
        (2, 1, True),
    ]
    assert len({key for key, _ in receiver.seen}) == 3


def test_a_table_made_anew_reaches_the_webhook_as_a_reset(
    hooked: Shelf, receiver: Receiver
) -> None:
    hooked.remake("t", (8, "h"))
    hooked.db.push()
    [(_, body)] = receiver.seen
    assert body["reset"] == "the table was made anew"
    assert body["rows"] == [{"weight": 1, "row": {"id": 8, "note": "h"}}]


class Topic:
    """A client that stands in for one of Kafka."""

    def __init__(self, lost: int = 0) -> None:
        self.messages: list[tuple[str, bytes, dict[str, Any]]] = []
        self.lost = lost

    def send(self, topic: str, key: bytes, value: bytes) -> None:
        self.messages.append((topic, key, json.loads(value)))

    def flush(self, seconds: float) -> int:
        return self.lost


def test_kafka_gets_a_message_for_each_row_under_its_key(shelf: Shelf) -> None:
    shelf.db.publish("t", "p")
    shelf.db.subscribe("p", "s")
    shelf.overwrite("t", (1, "other"))
    topic = Topic()
    assert KafkaSink("changes", topic).deliver(shelf.db.changes("p", "s")) == 3
    kinds = [value["kind"] for _, _, value in topic.messages]
    assert kinds == ["begin", "row", "row", "row", "end"]
    keys = Counter(key for _, key, value in topic.messages if value["kind"] == "row")
    assert keys == {b'{"id":1}': 2, b'{"id":2}': 1}
    with pytest.raises(DeliveryError):
        KafkaSink("changes", Topic(lost=1)).deliver(shelf.db.changes("p", "s"))


def test_without_a_client_for_kafka_the_push_says_what_to_install(shelf: Shelf) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    with pytest.raises(EnvironmentFaultError) as caught:
        installed_producer("host:9092", missing)
    assert "kafka-python" in caught.value.hint


def test_either_client_is_used_where_it_is_installed() -> None:
    sent: list[Any] = []

    class Confluent:
        def __init__(self, options: dict[str, Any]) -> None:
            sent.append(options["bootstrap.servers"])

        def produce(self, topic: str, value: bytes, key: bytes, on_delivery: Any) -> None:
            on_delivery("broken" if value == b"bad" else None, None)

        def flush(self, _: float) -> int:
            return 0

    producer = installed_producer("h:1", lambda _: SimpleNamespace(Producer=Confluent))
    producer.send("t", b"", b"good")
    assert producer.flush(1) == 0
    producer.send("t", b"", b"bad")
    assert producer.flush(1) == 1
    assert sent == ["h:1"]


def test_waits_grow_and_end_at_an_hour() -> None:
    assert [wait_after(n) for n in (1, 2, 3)] == [timedelta(seconds=s) for s in (5, 10, 20)]
    assert wait_after(1_000) == timedelta(hours=1)


def test_a_retry_waits_for_its_time_unless_somebody_asks(hooked: Shelf, receiver: Receiver) -> None:
    receiver.refuse = 1
    hooked.append("t", (3, "c"))
    attendance = Attendance(hooked.db._around)
    assert attendance.attend()[0].error is not None
    assert attendance.attend() == []
    hooked.clock.pass_by(seconds=6)
    assert attendance.attend()[0].error is None


def test_the_courier_works_beside_and_once_more_when_called_meanwhile() -> None:
    began, go, runs = Event(), Event(), []

    def work() -> None:
        runs.append(1)
        began.set()
        assert go.wait(10)

    courier = Courier(work)
    courier.call()
    assert began.wait(10)
    courier.call()
    courier.call()
    assert not courier.wait(0.01)
    go.set()
    assert courier.wait(10)
    assert len(runs) == 2
    courier.close()
    courier.call()
    assert len(runs) == 2


def test_without_publications_a_tick_asks_once_for_each_generation() -> None:
    asked: list[int] = []
    courier = Courier(lambda: None)

    def ask(found: bool) -> Callable[[], bool]:
        def answer() -> bool:
            asked.append(1)
            return found

        return answer

    for minute in range(5):
        courier.ticked(7, START + timedelta(minutes=minute), moved=True, ask=ask(False))
    assert (len(asked), courier._thread) == (1, None)
    courier.ticked(8, START, moved=False, ask=ask(True))
    assert len(asked) == 2
    assert courier.wait(10)
    courier._wanted = False
    courier.ticked(8, START + EVERY / 2, moved=False, ask=ask(True))
    assert courier._next_at == START + EVERY
    courier.close()


def test_a_fault_of_the_work_does_not_end_the_courier(caplog: pytest.LogCaptureFixture) -> None:
    runs: list[int] = []

    def work() -> None:
        runs.append(1)
        raise RuntimeError("no")

    courier = Courier(work)
    for _ in range(2):
        courier.call()
        assert courier.wait(10)
    assert len(runs) == 2
    courier.close()
