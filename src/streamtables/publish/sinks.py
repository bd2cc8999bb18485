"""Where changes can be pushed to: what a target is told by, and how it is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol, cast

from streamtables.catalog.models import Options
from streamtables.catalog.publication_models import Publication, SinkKind, Subscriber
from streamtables.errors import ConfigError
from streamtables.publish.reading import Changes
from streamtables.sources.postgres.server import Server

WANTED: Mapping[str, tuple[str, ...]] = {
    "postgres": ("address", "table"),
    "webhook": ("address",),
    "kafka": ("servers", "topic"),
}
_REFERENCE = re.compile(r"\$\{(env|file):[^}]+\}")
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*")


class Sink(Protocol):
    """Takes windows of changes, in order."""

    def position(self) -> tuple[str, int] | None:
        """Return the incarnation and version that the target itself says it has, if it does."""

    def deliver(self, changes: Changes) -> int:
        """Bring one window to the target; return how many rows it had."""


def checked_target(to: Mapping[str, str] | None) -> tuple[SinkKind, Options]:
    """Return the kind of a target and its options, or refuse what is wrong with them."""
    if to is None:
        return "pull", {}
    options = dict(to)
    kind = options.pop("kind", "")
    if kind not in WANTED:
        raise ConfigError(
            f'changes cannot be pushed to "{kind}"', hint=f"Use one of: {', '.join(WANTED)}."
        )
    wanted = WANTED[kind]
    if sorted(options) != sorted(wanted) or not all(options.values()):
        raise ConfigError(
            f"a target of the kind {kind} needs {' and '.join(wanted)}, and nothing else",
            hint=f"Given: {', '.join(sorted(options)) or 'nothing'}.",
        )
    if kind == "postgres":
        Server(options["address"]).require_reference()
        if not _TABLE.fullmatch(options["table"]):
            raise ConfigError(
                f'"{options["table"]}" is not the name of a PostgreSQL table with its schema',
                hint="Write schema.table, of letters, digits and underscores.",
            )
    if kind == "webhook" and not _REFERENCE.fullmatch(options["address"]):
        raise ConfigError(
            "the address of a webhook has to be a reference",
            detail="It may hold a token, and what is in the catalog is no secret.",
            hint="Write ${env:NAME} or ${file:path}.",
        )
    return cast("SinkKind", kind), options


def sink_of(publication: Publication, subscriber: Subscriber) -> Sink:
    """Return the sink of a subscriber that is pushed to."""
    # Imported on use: a warehouse without pushes loads none of them.
    options = {name: str(value) for name, value in subscriber.sink_options.items()}
    if subscriber.sink == "postgres":
        from streamtables.publish.postgres_sink import PostgresSink

        return PostgresSink(publication.id, subscriber.name, options["address"], options["table"])
    if subscriber.sink == "webhook":
        from streamtables.publish.webhook_sink import WebhookSink

        return WebhookSink(publication.name, subscriber.name, options["address"])
    from streamtables.publish.kafka_sink import KafkaSink, installed_producer

    return KafkaSink(options["topic"], installed_producer(options["servers"]))
