"""Changes to a Kafka topic, at least once, by whichever client is installed.

Each changed row is a message whose key is that of the row, so that one row's changes stay in order
in their partition.  A window begins and ends with a message without a row.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from streamtables.errors import DeliveryError, EnvironmentFaultError
from streamtables.publish.messages import head_of, rows_of, text_of
from streamtables.publish.reading import Changes
from streamtables.settings import resolve_secret

_SECONDS = 30.0


class Producer(Protocol):
    """What this sink needs of a client."""

    def send(self, topic: str, key: bytes, value: bytes) -> None:
        """Hand a message over."""

    def flush(self, seconds: float) -> int:
        """Wait until all messages arrived; return how many did not."""


class KafkaSink:
    """Sends windows to one topic."""

    def __init__(self, topic: str, producer: Producer) -> None:
        self._topic = topic
        self._producer = producer

    def position(self) -> tuple[str, int] | None:
        """A topic does not say what it has."""
        return None

    def deliver(self, changes: Changes) -> int:
        """Send a window, and wait until all of it arrived."""
        head, total = head_of(changes), 0
        self._send(b"", {"kind": "begin", **head})
        for batch in changes.batches:
            for row in rows_of(batch):
                names = changes.key_columns or list(row["row"])
                named = {name: row["row"][name] for name in names}
                self._send(text_of(named).encode(), {"kind": "row", "window": changes.key, **row})
                total += 1
        self._send(b"", {"kind": "end", "rows": total, **head})
        if lost := self._producer.flush(_SECONDS):
            raise DeliveryError(f"{lost} messages did not reach Kafka in {_SECONDS:.0f} seconds")
        return total

    def _send(self, key: bytes, value: dict[str, Any]) -> None:
        try:
            self._producer.send(self._topic, key, text_of(value).encode())
        except Exception as error:  # each client has errors of its own
            raise DeliveryError(
                "Kafka did not take a message", detail=f"{type(error).__name__}."
            ) from error


def installed_producer(servers: str, find: Callable[[str], Any] = import_module) -> Producer:
    """Return a producer of the first client that is installed."""
    for name, make in (("confluent_kafka", _Confluent), ("kafka", _KafkaPython)):
        try:
            module = find(name)
        except ImportError:
            continue
        return make(module, resolve_secret(servers))
    raise EnvironmentFaultError(
        "no client for Kafka is installed",
        hint="Install confluent-kafka or kafka-python beside streamtables.",
    )


class _Confluent:
    def __init__(self, module: Any, servers: str) -> None:
        self._client = module.Producer(
            {"bootstrap.servers": servers, "enable.idempotence": True, "acks": "all"}
        )
        self._failed = 0

    def send(self, topic: str, key: bytes, value: bytes) -> None:
        try:
            self._client.produce(topic, value, key, on_delivery=self._noted)
        except BufferError:
            self._client.flush(_SECONDS)
            self._client.produce(topic, value, key, on_delivery=self._noted)

    def flush(self, seconds: float) -> int:
        waiting = int(self._client.flush(seconds))
        return waiting + self._failed

    def _noted(self, error: object, _: object) -> None:
        self._failed += error is not None


class _KafkaPython:
    def __init__(self, module: Any, servers: str) -> None:
        self._client = module.KafkaProducer(bootstrap_servers=servers.split(","), acks="all")
        self._sent: list[Any] = []

    def send(self, topic: str, key: bytes, value: bytes) -> None:
        self._sent.append(self._client.send(topic, value=value, key=key))

    def flush(self, seconds: float) -> int:
        self._client.flush(timeout=seconds)
        lost = sum(not future.succeeded() for future in self._sent)
        self._sent.clear()
        return lost
