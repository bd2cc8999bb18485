"""A drain: all captured tables of a database brought to one position of it.

    look      where each mirror stands, by its own log
    read      in one transaction: the position, the shapes of the tables, and the changes since
    apply     one commit per mirror that changed, with the position in it
    record    the drain, in the catalog: from here on it can be pinned
    let go    buffers are trimmed and the slot moves on, never before the record

A crash between any two of them is met by the next drain: a mirror that has committed stands at the
new position already, and the others are brought to a later one together with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from streamtables.catalog.models import Capture, CaptureEvent, Source
from streamtables.catalog.store import Catalog
from streamtables.errors import (
    CommitConflictError,
    StreamTablesError,
    TableDamagedError,
    TransientError,
)
from streamtables.fail_points import reach
from streamtables.observe.observer import Observer, Poll
from streamtables.positions import Drain, Frontier, InputId, MirrorStanding, PgPosition, Version
from streamtables.settings import Settings
from streamtables.sources.postgres import buffer, slot, wal
from streamtables.sources.postgres.captured import Captured
from streamtables.sources.postgres.captured_read import (
    Read,
    ReadTable,
    Unexplained,
    read_captured,
)
from streamtables.sources.postgres.continuity import here, what_went_back
from streamtables.sources.postgres.look import IDLE_BYTES
from streamtables.sources.postgres.mirror import (
    apply_captured,
    standing_of,
    standing_since_copy,
)
from streamtables.sources.postgres.moves import Mover, Ways
from streamtables.sources.postgres.older_buffers import Upgraded, meet_buffers
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.snapshot import lsn_number
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.turns import alone

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions

_ROUNDS = 3
"""How often a drain begins anew because a table had to be copied, or another process was first."""


@dataclass(frozen=True)
class Workshop:
    """What every drain of one connection shares."""

    catalog: Catalog
    sessions: SparkSessions
    settings: Settings
    clock: Callable[[], datetime]
    observer: Observer = field(default_factory=Observer)


@dataclass(frozen=True)
class Captive:
    """A captured source."""

    source: Source
    capture: Capture


@dataclass
class DatabaseDrain:
    """One drain of one database; used once."""

    database: str
    server: Server
    shop: Workshop
    load: Callable[[], tuple[Captive, ...]]
    """Gives the captured tables of the database as they are when the drain begins."""
    copy_anew: Callable[[Captive, str], Captive]
    """Copies a table whose captured changes do not tell all; given the reason."""
    is_quiet: Callable[[Connection[Any]], bool]
    """Says that nothing can have happened since the last recorded drain."""
    reads_log: bool = False
    """Whether the slot is used; then a quiet look says that nothing waits in it."""
    captives: tuple[Captive, ...] = ()
    errors: dict[InputId, StreamTablesError] = field(default_factory=dict)
    heads: dict[InputId, Version] = field(default_factory=dict)
    seen: PgPosition | None = None
    """The position that was read, whether or not it had to be recorded."""
    _lag_bytes: int | None = None
    _read: Read | None = None
    _fresh: set[InputId] = field(default_factory=set)
    """What this drain has copied."""

    def run(self) -> Drain | None:
        """Bring all mirrors to one position and record it; None when nothing can have happened."""
        began, done, quiet = perf_counter(), None, False
        try:
            with self.server.connected("drain") as connection:
                quiet = self.is_quiet(connection)
                done = None if quiet else self._drained(connection)
        finally:
            self.shop.observer.polled(self._poll(perf_counter() - began, quiet=quiet))
        return done

    def _poll(self, seconds: float, *, quiet: bool) -> Poll:
        """Say what this look found."""
        names = {captive.source.id: captive.source.name for captive in self.captives}
        rows = self._read.rows if self._read else {}
        waiting = {names[key]: count for key, count in rows.items()}
        records = self._read.records if self._read else None
        if quiet and self.reads_log:
            records = 0
        return Poll(self.server.shown, seconds, waiting, records, self._lag_bytes)

    def _drained(self, connection: Connection[Any]) -> Drain:
        with alone(connection, self.database):
            # Only now: whoever drained before may have moved captures, or marked them for a copy.
            self.captives = self.load()
            line = self._copied_what_went_back(connection)
            for _ in range(_ROUNDS):
                try:
                    done = self._once(connection)
                except CommitConflictError:
                    continue
                if not isinstance(done, _Again):
                    if line is not None:
                        self.shop.catalog.keep_line(self.database, line)
                    return done
        raise TransientError(
            "the captured tables did not come to one position",
            detail="They were copied or drained by others while this drain ran.",
        )

    def _copied_what_went_back(self, connection: Connection[Any]) -> str | None:
        """Copy all tables of a server that was put back; return its line if that is to be kept."""
        known = self.shop.catalog.captured_databases().get(self.database)
        now = here(connection)
        last, line = (known.last, known.line) if known else (None, "")
        if last is not None and (reason := what_went_back(now, last, line)):
            for captive in self.captives:
                # Nothing is known of how far a slot of this server was read.
                capture = replace(captive.capture, moving_since=last.number)
                self._copied(replace(captive, capture=capture), reason)
        return None if now.line == line else now.line

    def _once(self, connection: Connection[Any]) -> Drain | _Again:
        last = self.shop.catalog.last_drain(self.database)
        mover = self._mover(connection, last)
        self.captives = tuple(
            Captive(captive.source, mover.moved(captive.capture)) for captive in self.captives
        )
        self._report_ways(mover)
        if self._copied_what_needs_it(last) or self._copied_what_lost_its_buffer(connection):
            return _Again()
        with Spool() as spool:
            return self._brought_on(connection, mover, last, spool)

    def _brought_on(
        self, connection: Connection[Any], mover: Mover, last: Drain | None, spool: Spool
    ) -> Drain | _Again:
        standings = self._standings(last)
        read = read_captured(
            connection,
            self._readable(standings),
            standings,
            mover.ways.name,
            self.shop.settings,
            self._flushed,
            spool,
            reads_slot=self._reads_slot(mover),
        )
        self._read = read
        if self._copied_what_is_unexplained(read.tables):
            return _Again()
        drain = self._applied(last, standings, read)
        if isinstance(drain, _Again):
            return drain
        self._let_go(connection, mover, read, drain)
        self.seen = read.position
        return drain

    def _reads_slot(self, mover: Mover) -> bool:
        """Whether the slot is read: also for tables that are to be copied, so that it moves on.

        What it holds of those is of no use, and the server would keep all that is written after.
        """
        uses = [c for c in self.captives if "wal" in (c.capture.mode, c.capture.moving_to)]
        if any(captive.source.id not in self.errors for captive in uses):
            return True
        return bool(uses) and mover.ways.slot.is_whole and not self._left_alone

    def _flushed(self, lsn: str) -> None:
        with self.server.connected("flush") as connection:
            wal.wait_until_flushed(connection, lsn)

    def _mover(self, connection: Connection[Any], last: Drain | None) -> Mover:
        ways = Ways.of(connection, self.shop.catalog.capture_tag(self.database))
        return Mover(
            connection, self.shop.catalog, self.shop.settings, ways, last, self.shop.clock()
        )

    def _let_go(self, connection: Connection[Any], mover: Mover, read: Read, drain: Drain) -> None:
        """Free what the server keeps for us, now that the drain is recorded."""
        for captive in self.captives:
            waits = captive.source.id in self._left_alone
            if not waits and "triggers" in (captive.capture.mode, captive.capture.moving_to):
                self._trim(connection, captive, drain)
        reach("buffers-trimmed")
        if read.confirm is not None and drain.position == read.position:
            slot.advance(connection, mover.ways.name, read.confirm)
        mover.tidied([captive.capture for captive in self.captives])

    def _trim(self, connection: Connection[Any], captive: Captive, drain: Drain) -> None:
        """Empty a buffer of what was drained; that of a table in error may not be there."""
        tag = captive.capture.tag
        if captive.source.id not in self.errors or buffer.is_there(connection, tag):
            buffer.trim(connection, tag, drain.position.snapshot)

    def _standings(self, last: Drain | None) -> dict[InputId, MirrorStanding]:
        found = {}
        for captive in self.captives:
            if (key := captive.source.id) not in self.errors:
                found[key], self.heads[key] = self._standing(captive.source, last)
        return found

    def _standing(self, source: Source, last: Drain | None) -> tuple[MirrorStanding, Version]:
        try:
            return standing_of(source, last)
        except TableDamagedError:
            if source.id not in self._fresh:
                raise
            return standing_since_copy(source)

    def _readable(self, standings: dict[InputId, MirrorStanding]) -> tuple[Captive, ...]:
        return tuple(captive for captive in self.captives if captive.source.id in standings)

    def _copied_what_needs_it(self, last: Drain | None) -> bool:
        """Copy tables that were marked for it, and mirrors that others wrote to."""
        copied = False
        for captive in self.captives:
            reason = captive.capture.copy_reason
            try:
                self._standing(captive.source, last)
            except TableDamagedError as error:
                reason = reason or error.detail
            if reason and captive.source.id not in self.errors:
                copied = self._copied(captive, reason) or copied
        return copied

    def _copied_what_lost_its_buffer(self, connection: Connection[Any]) -> bool:
        """Meet the buffers of other releases; copy the tables whose buffer is not whole."""
        copied = False
        captures = [c.capture for c in self.captives if c.source.id not in self.errors]
        met = meet_buffers(connection, captures)
        for captive in self.captives:
            found = met.get(captive.source.id)
            if isinstance(found, StreamTablesError):
                self.errors[captive.source.id] = found
            elif isinstance(found, Upgraded):
                self._note(captive, "buffer upgraded", found.reason)
            elif found is not None:
                copied = self._copied(captive, found.reason) or copied
        return copied

    def _copied_what_is_unexplained(self, tables: dict[InputId, ReadTable | Unexplained]) -> bool:
        copied = False
        for captive in self.captives:
            found = tables.get(captive.source.id)
            if isinstance(found, Unexplained):
                copied = self._copied(captive, found.reason) or copied
        return copied

    def _copied(self, captive: Captive, reason: str) -> bool:
        """Copy a table anew; one that cannot be copied stops alone, and the others go on."""
        try:
            fresh = self.copy_anew(captive, reason)
            self._fresh.add(captive.source.id)
        except TransientError:
            raise
        except StreamTablesError as error:
            self.errors[captive.source.id] = error
            # The catalog has the reason; what is stored from here on must not lose it.
            fresh = replace(captive, capture=replace(captive.capture, copy_reason=reason))
        self.captives = tuple(
            fresh if item.source.id == fresh.source.id else item for item in self.captives
        )
        return True

    def _applied(
        self,
        last: Drain | None,
        standings: dict[InputId, MirrorStanding],
        read: Read,
    ) -> Drain | _Again:
        versions = {key: standing.version for key, standing in standings.items()}
        for captive in self._readable(standings):
            key = captive.source.id
            found = read.tables[key]
            assert isinstance(found, ReadTable)
            self._note_shape(captive, found)
            if found.captured is not None:
                try:
                    versions[key] = self._brought(captive, standings[key], found.captured, read)
                except TableDamagedError as error:
                    # The rows that went are not those of the mirror: it is no copy any more.
                    self._copied(captive, f"{error.message}: {error.detail}")
                    return _Again()
                reach("mirror-committed")
        reach("mirrors-committed")
        # A source that is in error is in no drain: its old rows do not belong to this position.
        found_versions = Frontier(versions)
        if last is not None and last.versions == found_versions and self._is_idle(last, read):
            # Nothing was captured: the recorded drain shows the same rows.
            return last
        number = last.number + 1 if last else 1
        now = self.shop.clock()
        drain = Drain(self.database, number, read.position, found_versions, now, _lags(read, now))
        if not self.shop.catalog.record_drain(drain):
            raise CommitConflictError("another process recorded a drain first")
        reach("drain-recorded")
        names = {captive.source.id: captive.source.name for captive in self.captives}
        self.shop.observer.drained(now, {names[key]: lag for key, lag in drain.lags.items()})
        return drain

    def _report_ways(self, mover: Mover) -> None:
        """Report how each table is captured now, and how far the slot is behind."""
        for captive in self.captives:
            reason = mover.fallbacks.get(captive.source.id)
            self.shop.observer.captured(captive.source.name, reason)
        uses = any("wal" in (c.capture.mode, c.capture.moving_to) for c in self.captives)
        if uses and mover.ways.slot.exists:
            self._lag_bytes = mover.ways.slot.lag_bytes

    def _brought(
        self, captive: Captive, standing: MirrorStanding, captured: Captured, read: Read
    ) -> Version:
        source, shop = captive.source, self.shop
        head = self.heads[source.id]
        done = apply_captured(
            source,
            standing,
            head,
            captured,
            read.position,
            shop.sessions,
            spark_only=shop.settings.driver_rows_max == 0,
        )
        if done.by_spark:
            self._note(captive, "drained by Spark", done.by_spark)
        return done.version

    def _note(self, captive: Captive, kind: str, reason: str) -> None:
        event = CaptureEvent(captive.source.id, self.shop.clock(), kind, reason)
        self.shop.catalog.add_capture_event(event)

    @property
    def _left_alone(self) -> set[InputId]:
        """Sources that stop without being copied later.

        They have no part in the drain, so that they go on from the position in their own commit,
        and what their buffers hold stays there for it.
        """
        return {
            captive.source.id
            for captive in self.captives
            if captive.source.id in self.errors and not captive.capture.copy_reason
        }

    def _is_idle(self, last: Drain, read: Read) -> bool:
        """Whether the last recorded drain is as good as this one would be."""
        if any(isinstance(item, ReadTable) and item.captured for item in read.tables.values()):
            return False
        if any(captive.capture.moving_to for captive in self.captives):
            return False
        if read.confirm is None:
            return True
        # A slot that is not moved on keeps the log of everybody else, too.
        return lsn_number(read.position.lsn) - lsn_number(last.position.lsn) < IDLE_BYTES

    def _note_shape(self, captive: Captive, found: ReadTable) -> None:
        """Keep the new files of a table that was truncated."""
        shape = found.shape.to_json()
        if shape != captive.capture.shape:
            self.shop.catalog.move_capture(replace(captive.capture, shape=shape))


@dataclass(frozen=True)
class _Again:
    """A table was copied: the mirrors no longer stand at one position."""


def _lags(read: Read, now: datetime) -> dict[InputId, float]:
    """Return for how long the oldest change of each source waited."""
    return {
        key: (now - item.changed_at).total_seconds()
        for key, item in read.tables.items()
        if isinstance(item, ReadTable) and item.captured and item.changed_at
    }
