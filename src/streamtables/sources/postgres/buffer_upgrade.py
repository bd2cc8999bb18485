"""Change buffers of the first layout, brought to the present one without losing a change.

The first layout was wide: one row per change, with the columns `old_<name>` and `new_<name>` for
each column of the source, and the action `I`, `U` or `D`; a table that was emptied was a `T`.  An
update becomes two rows, the old one first, so numbers are doubled to keep the order.  Transaction
ids stay, and with them which drain a row belongs to.

Triggers that were dropped or disabled are not put back in silence: no buffer has what they missed.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.buffer_columns import Captured, buffer_name
from streamtables.sources.postgres.buffer_layout import (
    LAYOUT,
    Layout,
    describe_buffer,
    read_layout,
)
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.server import SCHEMA
from streamtables.sources.postgres.trigger_sql import create_buffer
from streamtables.sources.postgres.triggers import (
    complete_on,
    describe_capture,
    names,
    put_triggers,
)

_COLUMNS = """
SELECT a.attname FROM pg_catalog.pg_attribute a
WHERE a.attrelid = pg_catalog.format('%%I.%%I', %s::text, %s::text)::regclass
  AND a.attnum > 0 AND NOT a.attisdropped
"""

# The first layout's triggers did not fire for what a replication role writes.
_FIRING = """
SELECT t.tgrelid::int8, t.tgname::text FROM pg_catalog.pg_trigger t
WHERE t.tgname = ANY (%s) AND t.tgenabled IN ('A', 'O')
"""


def upgrade(connection: Connection[Any], table: PgTable, tag: str) -> bool:
    """Bring a buffer and the triggers that fill it to the present layout; say if it was needed.

    Writers wait meanwhile.

    Raises:
        SourceUnusableError: the buffer is not there, or newer, or does not have every change.
    """
    with connection.transaction():
        # The table first, as writers do, who then come to the buffer.
        connection.execute(
            sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(table.identifier)
        )
        layout = read_layout(connection, tag)
        if layout is not None and layout.layout == LAYOUT:
            return False
        if layout is None or layout.layout > LAYOUT:
            raise newer(tag, layout) if layout else _lacking(tag, "It is not there.")
        captured = describe_capture(connection, table, tag)
        _check_columns(connection, captured)
        _check_triggers(connection, table, tag)
        _move(connection, captured)
        put_triggers(connection, captured, table)
    return True


def newer(tag: str, layout: Layout) -> SourceUnusableError:
    """Return the error for a buffer that a newer release made; it is left as it is."""
    return SourceUnusableError(
        f'the change buffer "changes_{tag}" on the PostgreSQL server is of a newer release',
        detail=f"It has layout {layout.layout}; this release knows layouts up to {LAYOUT}.",
        hint="Use the newer release, or drop the source and add it again.",
    )


def _lacking(tag: str, what: str) -> SourceUnusableError:
    return SourceUnusableError(
        f'the change buffer "changes_{tag}" cannot be upgraded',
        detail=what,
        hint="Set the capture of the source up again; the table is then copied anew.",
    )


def _check_triggers(connection: Connection[Any], table: PgTable, tag: str) -> None:
    firing = connection.execute(_FIRING, (names(tag),)).fetchall()
    wanted = {table.oid, *(partition.oid for partition in table.partitions)}
    if wanted - complete_on(firing, tag):
        raise _lacking(tag, "A capturing trigger was dropped or disabled.")


def _check_columns(connection: Connection[Any], captured: Captured) -> None:
    found = connection.execute(_COLUMNS, (SCHEMA, f"changes_{captured.tag}")).fetchall()
    there = {row[0] for row in found}
    wanted = (f"{side}_{c.name}" for c in captured.columns for side in ("old", "new"))
    if missing := [name for name in wanted if name not in there]:
        raise _lacking(captured.tag, f"It has no column {', '.join(missing)}.")


def _move(connection: Connection[Any], captured: Captured) -> None:
    wide = sql.Identifier(f"wide_{captured.tag}")
    connection.execute(
        sql.SQL("ALTER TABLE {} RENAME TO {}").format(buffer_name(captured.tag), wide)
    )
    connection.execute(create_buffer(captured))
    connection.execute(describe_buffer(captured))
    old = sql.SQL("{}.{}").format(sql.Identifier(SCHEMA), wide)
    connection.execute(_went_and_came(captured, old))
    last = connection.execute(
        sql.SQL("SELECT 2 * COALESCE(max(__st_seq), 0) + 2 FROM {}").format(old)
    ).fetchone()
    connection.execute(
        sql.SQL("ALTER TABLE {} ALTER COLUMN __st_seq RESTART WITH {}").format(
            captured.buffer, sql.Literal(last[0] if last else 1)
        )
    )
    connection.execute(sql.SQL("DROP TABLE {}").format(old))


def _went_and_came(captured: Captured, wide: sql.Composable) -> sql.Composed:
    """Return the statement that copies the rows; what an emptied table left behind has no row."""
    own = "__st_seq, __st_xid, __st_at, __st_relation, __st_action"
    select = (
        "SELECT 2 * __st_seq + {half}, __st_xid, __st_at, {source}, {action}{values} "
        "FROM {wide} WHERE __st_action IN ({of})"
    )
    empty = [sql.SQL(", NULL::{}").format(c.stored) for c in captured.columns]
    return sql.SQL(
        "INSERT INTO {} ({}{}) OVERRIDING SYSTEM VALUE {} UNION ALL {} UNION ALL {} ORDER BY 1"
    ).format(
        captured.buffer,
        sql.SQL(own),
        sql.SQL("").join(sql.SQL(", {}").format(c.identifier) for c in captured.columns),
        *(
            sql.SQL(select).format(
                half=sql.Literal(half),
                source=sql.SQL("{}::oid").format(sql.Literal(captured.source)),
                action=sql.SQL('{}::"char"').format(sql.Literal(action)),
                values=sql.SQL("").join(values),
                wide=wide,
                of=sql.SQL(", ").join(map(sql.Literal, of)),
            )
            for half, action, of, values in (
                (0, "D", "UD", _side(captured, "old")),
                (1, "I", "UI", _side(captured, "new")),
                (0, "T", "T", empty),
            )
        ),
    )


def _side(captured: Captured, side: str) -> list[sql.Composed]:
    shapes = {True: ", {0}::text", False: ", {0}::{1}"}
    return [
        sql.SQL(shapes[c.own_type]).format(sql.Identifier(f"{side}_{c.name}"), c.stored)
        for c in captured.columns
    ]
