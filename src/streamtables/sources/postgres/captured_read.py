"""What was captured since each mirror's position, read in one transaction.

The transaction has one snapshot: it is the position of the drain, and whatever it sees that a
mirror's position does not see is a change for that mirror, from a buffer and from the WAL alike.
The shapes of the tables are read in it too, so that a table which became another one is noticed
with the changes that explain it, or do not.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg import Connection

from streamtables.catalog.models import Capture
from streamtables.engine.names import WEIGHT
from streamtables.fail_points import reach
from streamtables.positions import InputId, MirrorStanding, PgPosition
from streamtables.settings import Settings
from streamtables.sources.postgres import buffer, publication, triggers, wal, wal_drain
from streamtables.sources.postgres.captured import Captured
from streamtables.sources.postgres.facts import PgTable, describe_table
from streamtables.sources.postgres.row_events import MirrorShape
from streamtables.sources.postgres.shape import Shape, unexplained
from streamtables.sources.postgres.snapshot import Position
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import MirrorColumn, ValueDoesNotFitError, map_columns

if TYPE_CHECKING:
    from streamtables.sources.postgres.drain import Captive

BATCH_ROWS = 50_000


@dataclass(frozen=True)
class ReadTable:
    """The changes of one table, None when there are none, and the shape that they lead to."""

    captured: Captured | None
    shape: Shape
    changed_at: datetime | None = None


@dataclass(frozen=True)
class Unexplained:
    """Why the captured changes of a table do not tell all that happened to it."""

    reason: str


@dataclass
class Read:
    """One position, and what each table has to catch up to it."""

    position: PgPosition
    tables: dict[InputId, ReadTable | Unexplained] = field(default_factory=dict)
    confirm: str | None = None
    """How far the slot may be confirmed, where it was read."""
    records: int | None = None
    """How many changes waited in the log; None where it was not read."""

    @property
    def rows(self) -> dict[InputId, int]:
        """How many changed rows of each table were read."""
        return {
            key: item.captured.rows.num_rows if item.captured else 0
            for key, item in self.tables.items()
            if isinstance(item, ReadTable)
        }


@dataclass(frozen=True)
class _Described:
    capture: Capture
    table: PgTable
    columns: tuple[MirrorColumn, ...]
    since: PgPosition

    @property
    def followed(self) -> wal_drain.Followed:
        """The table as the log names its rows: by the replica identity."""
        named = self.table.identity_columns if self.table.identity in ("d", "i") else ()
        return wal_drain.Followed(MirrorShape(self.columns, named), self.since.snapshot)

    def explained(self, found: ReadTable | Unexplained) -> ReadTable | Unexplained:
        """Return what was read, unless the table's shape says that there is more to it."""
        if isinstance(found, Unexplained):
            return found
        truncated = found.captured is not None and found.captured.cleared
        known = Shape.from_json(self.capture.shape)
        reason = unexplained(known, found.shape, truncated=truncated)
        if reason is None and self._may_lack_a_truncation(found.captured):
            reason = "it was truncated, and the WAL does not say whether a partition was once more"
        return Unexplained(reason) if reason is not None else found

    def _may_lack_a_truncation(self, captured: Captured | None) -> bool:
        """Whether a partition may have been emptied by itself after the whole table was.

        The log is read as that of the whole table, and leaves this out.
        """
        if self.capture.mode != "wal" or not self.table.partitions or captured is None:
            return False
        return captured.cleared and captured.rows.num_rows > 0


def read_captured(
    connection: Connection[Any],
    captives: Sequence[Captive],
    standings: Mapping[InputId, MirrorStanding],
    slot: str,
    settings: Settings,
    flush: Callable[[str], None],
    spool: Spool,
    *,
    reads_slot: bool,
) -> Read:
    """Read all changes of some captured tables up to the present.

    `flush` has the server write its log out up to a place.  It needs another connection: this one
    is inside the transaction that reads.  `spool` has the rows until the drain ends.  The slot may
    be read for nobody, so that it moves on.
    """
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        read = Read(PgPosition(*wal.current_position(connection)))
        published = publication.tables(connection, slot)
        described: dict[InputId, _Described] = {}
        for captive in captives:
            key = captive.source.id
            since = standings[key].position
            found = _described(connection, captive.capture, since, published)
            if isinstance(found, Unexplained):
                read.tables[key] = found
            else:
                described[key] = found
        for key, item in described.items():
            if item.capture.mode == "triggers":
                read.tables[key] = item.explained(_read_buffer(connection, item, spool))
        if not wal.is_flushed(connection, read.position.lsn):
            # A commit that a crash of the server undoes must not be in a mirror: its number would
            # be given to another one.
            flush(read.position.lsn)
        if reads_slot:
            _read_slot(connection, described, read, slot, settings, spool)
    reach("changes-read")
    return read


def _described(
    connection: Connection[Any], capture: Capture, since: PgPosition, published: Container[int]
) -> _Described | Unexplained:
    table = describe_table(connection, capture.relation)
    if table is None:
        return Unexplained(f"the table {capture.table_name} was dropped or made again")
    reason = unexplained(Shape.from_json(capture.shape), Shape.of(table), truncated=True)
    if reason is None and capture.mode == "triggers":
        reason = _not_captured(connection, capture, table)
    if reason is None and capture.mode == "wal" and table.oid not in published:
        reason = "it is no longer in the publication"
    if reason is not None:
        return Unexplained(reason)
    columns = map_columns(table, {k: str(v) for k, v in capture.overrides.items()})
    return _Described(capture, table, columns, since)


def _not_captured(connection: Connection[Any], capture: Capture, table: PgTable) -> str | None:
    """Say why the triggers do not see everything; None when they do."""
    missed = triggers.misses(connection, capture.tag, table)
    return "a capturing trigger was dropped or disabled" if missed else None


def _read_buffer(
    connection: Connection[Any], item: _Described, spool: Spool
) -> ReadTable | Unexplained:
    try:
        return _from_buffer(connection, item, spool)
    except ValueDoesNotFitError as error:
        # A copy meets the value too, unless it is gone by then; the other tables go on.
        return Unexplained(error.message)


def _from_buffer(
    connection: Connection[Any], item: _Described, spool: Spool
) -> ReadTable | Unexplained:
    parts: list[pa.Table] = []
    cleared = False
    first_at: datetime | None = None
    changed: frozenset[str] | None = frozenset()
    for batch in buffer.read(
        connection, item.capture.tag, item.columns, item.since.snapshot, batch_rows=BATCH_ROWS
    ):
        if batch.unexplained is not None:
            return Unexplained(batch.unexplained)
        if batch.cleared:
            cleared, parts = True, []
        if batch.rows.num_rows:
            parts.append(spool.keep(batch.rows))
            changed = _either(changed, batch.changed)
        first_at = min(filter(None, (first_at, batch.first_at)), default=None)
    if not parts and not cleared:
        return ReadTable(None, Shape.of(item.table), first_at)
    captured = Captured(_joined(parts, item.columns), cleared, changed=None if cleared else changed)
    return ReadTable(captured, Shape.of(item.table), first_at)


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """Return the columns that either names; None, which is all, if one of them does."""
    return None if one is None or other is None else one | other


def _read_slot(
    connection: Connection[Any],
    described: Mapping[InputId, _Described],
    read: Read,
    slot: str,
    settings: Settings,
    spool: Spool,
) -> None:
    # Where tables only move to the WAL nothing is taken, but the slot has to move on.
    from_wal = {key: item for key, item in described.items() if item.capture.mode == "wal"}
    upto = Position(read.position.snapshot, read.position.lsn)
    found = wal_drain.drain(
        connection,
        slot=slot,
        publication=slot,
        upto=upto,
        tables={item.table.oid: item.followed for item in from_wal.values()},
        fetch=settings.wal_max_changes_per_poll,
        spool=spool,
    )
    read.confirm, read.records = found.confirmable, found.records
    for key, item in from_wal.items():
        if (misfit := found.misfits.get(item.table.oid)) is not None:
            read.tables[key] = Unexplained(misfit)
            continue
        captured = found.captured[item.table.oid]
        if captured.reshaped:
            read.tables[key] = Unexplained(captured.reshaped)
            continue
        at = found.committed_us.get(item.table.oid)
        read.tables[key] = item.explained(
            ReadTable(
                None if captured.empty else captured,
                Shape.of(item.table),
                None if at is None else datetime.fromtimestamp(at / 1_000_000, UTC),
            )
        )


def _joined(parts: list[pa.Table], columns: tuple[MirrorColumn, ...]) -> pa.Table:
    schema = pa.schema([*((c.name, c.arrow_type) for c in columns), (WEIGHT, pa.int64())])
    return pa.concat_tables(parts) if parts else schema.empty_table()
