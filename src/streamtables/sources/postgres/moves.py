"""Moves between triggers and WAL, carried out on the server and recorded with their reasons.

The step to take is decided by `capture_mode`; here it is done.  Every move happens inside a drain,
before the drain's position is taken, and by the one process that drains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection, errors

from streamtables.catalog.models import Capture, CaptureEvent, CaptureMode
from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.store import Catalog
from streamtables.errors import StreamTablesError, TransientError
from streamtables.positions import Drain, InputId
from streamtables.settings import Settings
from streamtables.sources.postgres import publication, slot, triggers
from streamtables.sources.postgres.capture_mode import (
    CaptureFacts,
    CaptureStep,
    Fallback,
    fallback,
    next_step,
)
from streamtables.sources.postgres.facts import PgTable, describe_table
from streamtables.sources.postgres.slot import SlotFacts
from streamtables.sources.postgres.snapshot import lsn_number
from streamtables.sources.postgres.wal_blocks import (
    ServerFacts,
    server_facts,
    table_blocks,
    table_facts,
    what_blocks,
)

_END_OF_LOG = "FFFFFFFF/FFFFFFFF"
_HARDLY_WAIT = "SET LOCAL lock_timeout = '200ms'"
_BEGUN = timedelta(hours=12)
"""For how long a source that is being added is believed to be; what a crash left is older."""


@dataclass(frozen=True)
class Ways:
    """What a server allows at one moment."""

    name: str
    """Of our publication and our slot."""
    server: ServerFacts
    slot: SlotFacts

    @classmethod
    def of(cls, connection: Connection[Any], capture_id: str) -> Ways:
        """Ask the server."""
        name = publication.object_name(capture_id)
        return cls(name, server_facts(connection), slot.slot_facts(connection, name))

    def blocks(self, connection: Connection[Any], table: PgTable) -> tuple[str, ...]:
        """Return every reason why the WAL cannot tell the changes of a table."""
        facts = table_facts(connection, table)
        return (
            *what_blocks(self.server, has_slot=self.slot.exists),
            *table_blocks(table, facts, self.server),
        )


@dataclass(frozen=True)
class Mover:
    """Moves the captures of one database."""

    connection: Connection[Any]
    catalog: Catalog
    settings: Settings
    ways: Ways
    last: Drain | None
    now: datetime
    fallbacks: dict[InputId, Fallback | None] = field(default_factory=dict)
    """Why triggers capture what the WAL should, of each table that was looked at."""
    waited: list[str] = field(default_factory=list)
    """What a move had to wait for in vain; the others of this drain do not wait for it, too."""

    def moved(self, capture: Capture) -> Capture:
        """Take the next step of a capture; return it as it is then."""
        table = describe_table(self.connection, capture.relation)
        if table is None:
            return capture
        facts = self._facts(capture, table)
        moved = self._stepped(capture, table, next_step(facts))
        self.fallbacks[capture.source_id] = fallback(facts, moved.mode)
        return moved

    def _stepped(self, capture: Capture, table: PgTable, step: CaptureStep) -> Capture:
        match step.move:
            case "stay":
                return self._noted(capture, step)
            case "start":
                return self._started(capture, table, step)
            case "finish":
                return self._finished(capture, step)
            case "abandon":
                publication.remove_table(self.connection, self.ways.name, table)
                return self._recorded(replace(capture, moving_to=None), "abandoned", step.reason)
            case "copy":
                return self._to_be_copied(capture, table, step)

    def begin_wal(self, table: PgTable) -> None:
        """Have the slot tell the changes of a table from now on."""
        publication.create(self.connection, self.ways.name)
        slot.create(self.connection, self.ways.name)
        publication.add_table(self.connection, self.ways.name, table)

    def end_wal(self, table: PgTable | None, others: bool) -> None:
        """Have the slot tell them no more; without other tables the slot goes too."""
        if not others:
            slot.drop(self.connection, self.ways.name)
            publication.drop(self.connection, self.ways.name)
        elif table is not None:
            publication.remove_table(self.connection, self.ways.name, table)

    def _facts(self, capture: Capture, table: PgTable) -> CaptureFacts:
        uses_slot = "wal" in (capture.mode, capture.moving_to)
        drained = self.last is not None and self.last.number > capture.moving_since
        # Before its first drain nothing is known of how far a slot was read.
        confirmed = self.last.position.lsn if self.last and drained else _END_OF_LOG
        return CaptureFacts(
            wish=capture.wish,
            mode=capture.mode,
            moving_to=capture.moving_to,
            wal_blocks=self.ways.blocks(self.connection, table),
            drained_since_start=drained,
            lag_bytes=self._behind_the_last_drain(),
            lag_bytes_max=self.settings.wal_max_lag_bytes,
            slot_lost=self._what_broke(confirmed) if uses_slot else "",
            retained_bytes=self.ways.slot.retained_bytes,
            retained_bytes_max=self.settings.slot_max_retained_bytes,
        )

    def _what_broke(self, confirmed: str) -> str:
        """Return why the slot leads no further; empty where it does."""
        server = self.ways.server
        if not (server.superuser or server.replication):
            # No orderly move: what the slot still holds cannot be read either.
            return f"the role {server.role} may no longer read the log"
        return slot.what_broke(self.ways.slot, confirmed)

    def _behind_the_last_drain(self) -> int:
        """Return how much of the log before the last drain the slot has not confirmed.

        What was written since is new to triggers too, so it says nothing about the WAL.
        """
        confirmed = self.ways.slot.confirmed_flush_lsn
        if self.last is None or not confirmed:
            return self.ways.slot.lag_bytes
        return max(0, lsn_number(self.last.position.lsn) - lsn_number(confirmed))

    def tidied(self, captures: Sequence[Capture]) -> None:
        """Take down what no capture uses any more; what a crash left behind, too."""
        for capture in captures:
            if "triggers" not in (capture.mode, capture.moving_to) and triggers.installed_on(
                self.connection, capture.tag
            ):
                self._take_off_triggers(capture)
        self._take_off_log(captures)

    def _take_off_triggers(self, capture: Capture) -> None:
        """Take triggers off without keeping anybody waiting: the next drain tries again."""
        try:
            with self.connection.transaction():
                # Whoever reads or writes the table waits behind us for as long as we wait.
                self.connection.execute(_HARDLY_WAIT)
                triggers.remove(self.connection, capture.tag)
        except errors.LockNotAvailable:
            return

    def _take_off_log(self, captures: Sequence[Capture]) -> None:
        used = [c for c in captures if "wal" in (c.mode, c.moving_to)]
        server = self.ways.server
        if not (server.superuser or server.replication):
            # It is left on the server, where `doctor` finds it.
            return
        if not used:
            if self.ways.slot.exists and not self._one_begins(captures):
                self.end_wal(None, others=False)
            return
        published = publication.tables(self.connection, self.ways.name)
        idle = published - {capture.relation for capture in used}
        if not idle or self._one_begins(captures):
            return
        for oid in idle:
            if (table := describe_table(self.connection, oid)) is not None:
                publication.remove_table(self.connection, self.ways.name, table)

    def _one_begins(self, captures: Sequence[Capture]) -> bool:
        """Whether a source is being added that may need the slot; it is in no list yet."""
        databases = {capture.database for capture in captures}
        known = {capture.tag for capture in captures}
        return any(
            trace.database in databases and trace.tag not in known and trace.at > self.now - _BEGUN
            for trace in self.catalog.traces()
        )

    def _noted(self, capture: Capture, step: CaptureStep) -> Capture:
        if capture.note == step.reason:
            return capture
        noted = replace(capture, note=step.reason)
        self.catalog.move_capture(noted)
        return noted

    def _started(self, capture: Capture, table: PgTable, step: CaptureStep) -> Capture:
        if self.waited:
            return self._noted(capture, replace(step, reason=self.waited[0]))
        try:
            if step.to == "wal":
                self.begin_wal(table)
            else:
                triggers.install(self.connection, table, capture.tag)
        except StreamTablesError as error:
            # The way that works goes on; the next drain tries again.
            if isinstance(error, TransientError):
                self.waited.append(error.message)
            return self._noted(capture, replace(step, reason=error.message))
        except errors.LockNotAvailable:
            reason = f"{table.shown} is being written to by a transaction that stays open"
            self.waited.append(reason)
            return self._noted(capture, replace(step, reason=reason))
        number = self.last.number if self.last else 0
        moving = replace(capture, moving_to=step.to, moving_since=number, note=step.reason)
        if step.cause == "slot-too-large":
            name = self._name(capture)
            event = Event(self.now, "slot-too-large", step.reason, capture.source_id, name)
            self.catalog.record_events([event])
        return self._recorded(moving, f"moving to {step.to}", step.reason)

    def _finished(self, capture: Capture, step: CaptureStep) -> Capture:
        """From this drain on the other way counts; what is left of the first goes after it."""
        moved = replace(capture, mode=step.to, moving_to=None, note=step.reason)
        return self._recorded(moved, f"moved to {step.to}", step.reason)

    def _to_be_copied(self, capture: Capture, table: PgTable, step: CaptureStep) -> Capture:
        to: CaptureMode = step.to
        if to == "wal":
            slot.drop(self.connection, self.ways.name)
            self.begin_wal(table)
        marked = replace(
            capture,
            mode=to,
            moving_to=None,
            moving_since=self.last.number if self.last else 0,
            copy_reason=step.reason,
            note=step.reason,
        )
        lost = Event(self.now, "slot-lost", step.reason, capture.source_id, self._name(capture))
        self.catalog.record_events([lost])
        return self._recorded(marked, f"copying, then {to}", step.reason)

    def _name(self, capture: Capture) -> str:
        return self.catalog.source(capture.source_id).name

    def _recorded(self, capture: Capture, kind: str, reason: str) -> Capture:
        event = CaptureEvent(capture.source_id, self.now, kind, reason)
        self.catalog.move_capture(capture, event)
        return capture
