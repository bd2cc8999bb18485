"""Change buffers, read and emptied: the signed rows between two positions.

A row belongs to a drain when its transaction is visible in the snapshot that the drain reads with,
and was not in the snapshot of the last one.  The server decides the first, `pg_visible_in_snapshot`
the second; so a transaction that commits late is late alone, and comes once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from psycopg import Connection, sql

from streamtables.engine import arrow_rows
from streamtables.engine.names import WEIGHT
from streamtables.errors import InternalError, SourceUnusableError
from streamtables.sources.postgres.buffer_columns import buffer_name
from streamtables.sources.postgres.buffer_layout import LAYOUT, Layout, read_layout
from streamtables.sources.postgres.buffer_marks import read_marks
from streamtables.sources.postgres.commit_times import written_at
from streamtables.sources.postgres.copy_text import copied
from streamtables.sources.postgres.triggers import reshaped
from streamtables.sources.postgres.types import MirrorColumn, from_text

_OWN = "__st_action, __st_changed, (1000000 * extract(epoch FROM {at}))::bigint"
_OWN_COLUMNS = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class BufferBatch:
    """Signed rows, and what has to happen before they are applied."""

    rows: pa.Table
    """The mirror's columns and the weight."""
    cleared: bool = False
    """The whole table was emptied before these rows: what the mirror holds no longer counts."""
    unexplained: str | None = None
    """Why rows alone do not lead to the table as it is; it has to be copied anew."""
    changed: frozenset[str] | None = None
    """The columns that updates changed; None is all, as for rows that came or went."""
    first_at: datetime | None = None
    last_at: datetime | None = None
    """When the first and the last transaction committed; began, where the server cannot say."""

    @property
    def count(self) -> int:
        """How many rows came or went."""
        return int(self.rows.num_rows)


def read(
    connection: Connection[Any],
    tag: str,
    columns: Sequence[MirrorColumn],
    since: str | None,
    batch_rows: int,
) -> Iterator[BufferBatch]:
    """Give the changes after a snapshot, in the order in which they were written.

    The caller has opened a REPEATABLE READ transaction, whose snapshot is the drain's position.
    What was written before the table was last emptied is left out.

    Raises:
        SourceUnusableError: the buffer is gone, or of another layout.
    """
    layout = _checked_layout(connection, tag)
    marks = read_marks(connection, tag, layout.source, rows_after(since))
    # A statement that looked at the past may have been captured into columns of another type.
    if reason := marks.unexplained or _altered(connection, tag):
        yield BufferBatch(_no_rows(columns), unexplained=reason)
        return
    cleared = marks.cleared_at is not None
    own = sql.SQL(_OWN).format(at=written_at(connection))
    select = _select(tag, own, columns, marks.cleared_at, since)
    for texts in copied(connection, select, _OWN_COLUMNS + len(columns), batch_rows):
        yield _batch(texts, columns, layout, cleared=cleared)
        cleared = False
    if cleared:
        yield BufferBatch(_no_rows(columns), cleared=True)


def net(rows: pa.Table) -> pa.Table:
    """Return signed rows with what came and went again left out; equal is equal to the bit."""
    return arrow_rows.net(rows, [name for name in rows.column_names if name != WEIGHT])


def is_there(connection: Connection[Any], tag: str) -> bool:
    """Whether the server has a buffer of this source."""
    name = buffer_name(tag).as_string(None)
    return connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone() == (True,)


def trim(connection: Connection[Any], tag: str, upto: str) -> int:
    """Delete what a snapshot holds, after all that read it have committed; return how many rows."""
    done = connection.execute(
        sql.SQL(
            "DELETE FROM {} WHERE pg_catalog.pg_visible_in_snapshot(__st_xid, %s::pg_snapshot)"
        ).format(buffer_name(tag)),
        (upto,),
    )
    return done.rowcount


def any_written(tags: Sequence[str], since: str) -> sql.Composed:
    """Return the expression for whether some buffer has a row that a snapshot does not see.

    Rows that were drained are gone, so there is little to look through.
    """
    questions = (
        sql.SQL("EXISTS (SELECT FROM {} WHERE {})").format(buffer_name(tag), rows_after(since))
        for tag in tags
    )
    return sql.SQL("({})").format(sql.SQL(" OR ").join(questions))


def rows_after(since: str | None) -> sql.Composable:
    """Return the condition for rows that a snapshot does not see; without one, for all."""
    if since is None:
        return sql.SQL("true")
    return sql.SQL("NOT pg_catalog.pg_visible_in_snapshot(__st_xid, {}::pg_snapshot)").format(
        sql.Literal(since)
    )


def _checked_layout(connection: Connection[Any], tag: str) -> Layout:
    row = connection.execute(
        "SELECT pg_catalog.current_setting('transaction_isolation')"
    ).fetchone()
    if row not in (("repeatable read",), ("serializable",)):
        raise InternalError("a change buffer is read without a snapshot that lasts")
    layout = read_layout(connection, tag)
    if layout is None or layout.layout != LAYOUT:
        found = "is gone" if layout is None else f"has layout {layout.layout}, not {LAYOUT}"
        raise SourceUnusableError(
            f'the change buffer "changes_{tag}" on the PostgreSQL server {found}',
            hint="Set the capture of the source up again; the table is then copied anew.",
        )
    return layout


def _altered(connection: Connection[Any], tag: str) -> str | None:
    return "captured columns were altered" if reshaped(connection, tag) else None


def _select(
    tag: str,
    own: sql.Composable,
    columns: Sequence[MirrorColumn],
    cleared_at: int | None,
    since: str | None,
) -> sql.Composed:
    return sql.SQL(
        "SELECT {}{} FROM {} WHERE __st_action IN ('D', 'I') AND __st_seq > {} AND {} "
        "ORDER BY __st_seq"
    ).format(
        own,
        sql.SQL("").join(sql.SQL(", {}").format(sql.Identifier(c.name)) for c in columns),
        buffer_name(tag),
        sql.Literal(cleared_at or 0),
        rows_after(since),
    )


def _batch(
    texts: pa.Table, columns: Sequence[MirrorColumn], layout: Layout, *, cleared: bool
) -> BufferBatch:
    action, masks, times, *values = texts.columns
    typed = {
        column.name: from_text(text, column) for column, text in zip(columns, values, strict=True)
    }
    weights = pc.if_else(pc.equal(action, "I"), pa.scalar(1, pa.int64()), pa.scalar(-1, pa.int64()))
    between = pc.min_max(times.cast(pa.int64())).as_py()
    return BufferBatch(
        pa.table({**typed, WEIGHT: weights}),
        cleared=cleared,
        changed=_changed(masks, layout.columns),
        first_at=_EPOCH + timedelta(microseconds=between["min"]),
        last_at=_EPOCH + timedelta(microseconds=between["max"]),
    )


def _changed(masks: pa.ChunkedArray, columns: Sequence[str]) -> frozenset[str] | None:
    """Return the columns that have a bit in some mask; a row without a mask has them all."""
    if masks.null_count:
        return None
    together = 0
    for mask in masks.unique().to_pylist():
        together |= int(mask, 2)
    bits = f"{together:0{len(columns)}b}"
    return frozenset(name for name, bit in zip(columns, bits, strict=True) if bit == "1")


def _no_rows(columns: Sequence[MirrorColumn]) -> pa.Table:
    fields = [pa.field(column.name, column.arrow_type) for column in columns]
    return pa.schema([*fields, pa.field(WEIGHT, pa.int64())]).empty_table()
