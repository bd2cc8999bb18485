"""What is wrong, or may become so, on the servers that are or were to be captured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection

from streamtables.catalog.captures import Trace
from streamtables.catalog.models import Capture
from streamtables.catalog.store import Catalog
from streamtables.errors import StreamTablesError
from streamtables.sources.postgres import publication, triggers
from streamtables.sources.postgres.leaving import removal_of_log, removal_of_tag
from streamtables.sources.postgres.moves import Ways
from streamtables.sources.postgres.server import SCHEMA, Server

_YOUNG = timedelta(days=1)


@dataclass(frozen=True)
class CaptureFinding:
    """One thing about a captured server: a fault, or something to know."""

    server: str
    fault: bool
    detail: str
    hint: str = ""


def capture_findings(catalog: Catalog) -> list[CaptureFinding]:
    """Look at every server that is captured, or on which a capture was begun and not completed.

    One that does not answer is a finding too.
    """
    captures, traces = list(catalog.captures().values()), catalog.traces()
    found: list[CaptureFinding] = []
    begun = [trace.database for trace in traces]
    for database in dict.fromkeys([*(capture.database for capture in captures), *begun]):
        here = _Here(
            catalog,
            database,
            [capture for capture in captures if capture.database == database],
            [trace for trace in traces if trace.database == database],
        )
        server = here.server
        try:
            with server.connected("doctor") as connection:
                found += here.findings(connection)
        except StreamTablesError as error:
            found.append(CaptureFinding(server.shown, True, error.message, error.hint))
    return found


@dataclass(frozen=True)
class _Here:
    """What the catalog knows of one database."""

    catalog: Catalog
    database: str
    captures: Sequence[Capture]
    traces: Sequence[Trace]

    @property
    def server(self) -> Server:
        """The server, by the address that drains use, or that of the last trace."""
        return Server(self.captures[0].server if self.captures else self.traces[-1].server)

    def findings(self, connection: Connection[Any]) -> Iterator[CaptureFinding]:
        """Look at the server."""
        ways = Ways.of(connection, self.catalog.capture_tag(self.database))
        if self.captures:
            yield from self._of_captures(ways)
        left = [*self._log_left(connection, ways), *self._tags_left(connection)]
        yield from left
        if not left:
            self._forget_old_traces()

    def _of_captures(self, ways: Ways) -> Iterator[CaptureFinding]:
        count, by_wal = len(self.captures), len(self._by_wal)
        yield self._found(f"{count} tables captured, {by_wal} by WAL", fault=False)
        for capture in self.captures:
            if capture.copy_reason:
                name = self.catalog.source(capture.source_id).name
                detail = f'source "{name}" has to be copied anew: {capture.copy_reason}'
                yield self._found(detail, "Refresh a table that reads it.")
        if by_wal and ways.server.keep_size == "-1":
            yield self._found(
                "max_slot_wal_keep_size is unlimited: a slot that nobody reads fills the disk",
                "ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();",
                fault=False,
            )

    def _log_left(self, connection: Connection[Any], ways: Ways) -> Iterator[CaptureFinding]:
        there = ways.slot.exists or publication.exists(connection, ways.name)
        if there and not self._by_wal:
            kept = ways.slot.retained_bytes
            keeps = f", and keeps {kept:,} bytes of the log" if ways.slot.exists else ""
            begun = f" ({_begun(self.traces[-1])})" if self.traces else ""
            yield self._found(
                f'the slot or publication "{ways.name}" is left over{begun}{keeps}',
                " ".join(removal_of_log(ways.name)),
            )

    def _tags_left(self, connection: Connection[Any]) -> Iterator[CaptureFinding]:
        ours = {capture.tag for capture in self.captures}
        there = set(triggers.tags(connection)) - ours
        begun = {trace.tag: trace for trace in self.traces if trace.tag in there}
        for tag, trace in begun.items():
            yield self._found(
                f"a capture of {trace.table_name} with the tag {tag} is left over"
                f" ({_begun(trace)})",
                " ".join(removal_of_tag(tag)),
            )
        orphans = set(triggers.orphans(connection)) - ours - begun.keys()
        for tag in sorted(orphans):
            yield self._found(
                f'the change buffer "{SCHEMA}.changes_{tag}" is of no table any more',
                " ".join(removal_of_tag(tag)),
            )
        if others := there - begun.keys() - orphans:
            listed = ", ".join(sorted(others))
            detail = f"captures that this warehouse does not know: {listed}"
            yield self._found(detail, "They are another warehouse's, or left over.", fault=False)

    def _forget_old_traces(self) -> None:
        """Forget what broke off and was cleared away; what is young may be on its way."""
        now = datetime.now(UTC)
        for trace in self.traces:
            if now - trace.at > _YOUNG:
                self.catalog.clear_trace(trace.tag)

    @property
    def _by_wal(self) -> list[Capture]:
        return [c for c in self.captures if "wal" in (c.mode, c.moving_to)]

    def _found(self, detail: str, hint: str = "", *, fault: bool = True) -> CaptureFinding:
        return CaptureFinding(self.server.shown, fault, detail, hint)


def _begun(trace: Trace) -> str:
    at = trace.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"a process died on the way, or goes on since {at}"
