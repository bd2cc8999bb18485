"""A change buffer in the wide layout, to compare with: one row per change, `old_` and `new_` pairs.

What is not the layout is kept equal: statement triggers with transition tables, the same columns
beside the values, rows paired by position, a mask of the changed columns, and no row for an update
that changed nothing.  The check of the table's shape, a constant per statement, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.buffer_columns import BufferColumn
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.triggers import describe_capture

_BUFFER = """
CREATE TABLE {buffer} (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    xid xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    relation oid NOT NULL,
    action "char" NOT NULL,
    changed bit varying{columns}
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)
"""
_FUNCTION = """
CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS {body}
"""
_TRIGGER = """
CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {transitions}
FOR EACH STATEMENT EXECUTE FUNCTION {function}()
"""
_TRANSITIONS = {
    "insert": "NEW TABLE AS came",
    "update": "OLD TABLE AS went NEW TABLE AS came",
    "delete": "OLD TABLE AS went",
}
_ONE_SIDE = "INSERT INTO {buffer} (action, relation{names}) SELECT {action}, TG_RELID{values} FROM "
_BOTH = """
INSERT INTO {buffer} (action, changed, relation{names})
SELECT 'U', d.bits::bit({count}), TG_RELID{values}
FROM (SELECT {bits} AS bits{pairs}
      FROM (SELECT row_number() OVER () AS place, t.* FROM went AS t) AS o
      FULL JOIN (SELECT row_number() OVER () AS place, t.* FROM came AS t) AS n
      ON o.place = n.place OFFSET 0) AS d
WHERE d.bits <> 0
"""


def install(connection: Connection[Any], table: PgTable, buffer: str) -> None:
    """Capture the changes of a table in a wide buffer."""
    columns = describe_capture(connection, table, "0" * 8).columns
    name = sql.Identifier("public", buffer)
    typed = [(sql.Identifier(side + c.name), c.stored) for c in columns for side in _SIDES]
    connection.execute(sql.SQL(_BUFFER).format(buffer=name, columns=_each(", {} {}", typed)))
    for event, transitions in _TRANSITIONS.items():
        function = sql.Identifier("public", f"{buffer}_{event}")
        body = sql.SQL("BEGIN {}; RETURN NULL; END").format(_captured(columns, event, name))
        literal = sql.Literal(body.as_string(None))
        connection.execute(sql.SQL(_FUNCTION).format(function=function, body=literal))
        connection.execute(
            sql.SQL(_TRIGGER).format(
                name=sql.Identifier(f"{buffer}_{event}"),
                event=sql.SQL(event.upper()),
                table=table.identifier,
                transitions=sql.SQL(transitions),
                function=function,
            )
        )


_SIDES = ("old_", "new_")


def _captured(
    columns: tuple[BufferColumn, ...], event: str, buffer: sql.Identifier
) -> sql.Composable:
    if event == "update":
        return _both(columns, buffer)
    side, rows, action = ("new_", "came", "I") if event == "insert" else ("old_", "went", "D")
    return sql.SQL(_ONE_SIDE + rows + " AS t").format(
        buffer=buffer,
        names=_each(", {}", ((sql.Identifier(side + c.name),) for c in columns)),
        action=sql.Literal(action),
        values=_each(", {}", ((c.value,) for c in columns)),
    )


def _both(columns: tuple[BufferColumn, ...], buffer: sql.Identifier) -> sql.Composed:
    count = len(columns)
    assert count <= 60, "one number holds the differences"
    names = [(sql.Identifier(side + c.name),) for c in columns for side in _SIDES]
    differences = (
        sql.SQL("CASE WHEN {} THEN {}::bigint ELSE 0 END").format(
            column.differs, sql.Literal(1 << (count - 1 - place))
        )
        for place, column in enumerate(columns)
    )
    pairs = ((c.identifier, *(sql.Identifier(s + c.name) for s in _SIDES)) for c in columns)
    return sql.SQL(_BOTH).format(
        buffer=buffer,
        names=_each(", {}", names),
        values=_each(", d.{}", names),
        count=sql.Literal(count),
        bits=sql.SQL(" | ").join(differences),
        pairs=_each(", o.{0} AS {1}, n.{0} AS {2}", pairs),
    )


def select_all(buffer: str, columns: Iterable[str]) -> sql.Composed:
    """Return the query for all changes in their order: what a row was, and what it became."""
    names = [(sql.Identifier(side + name),) for side in _SIDES for name in columns]
    return sql.SQL(
        "SELECT action, changed, (1000000 * extract(epoch FROM at))::bigint{} FROM {} ORDER BY seq"
    ).format(_each(", {}", names), sql.Identifier("public", buffer))


def select_netted(buffer: str, columns: Iterable[str], key: str) -> sql.Composed:
    """Return the query for what each key was before its first change, and is after its last."""
    names = list(columns)
    old, new = (_each(", {}", ((sql.Identifier(side + n),) for n in names)) for side in _SIDES)
    return sql.SQL(
        """WITH c AS (
            SELECT *, row_number() OVER w AS place, count(*) OVER (PARTITION BY {key}) AS changes
            FROM (SELECT *, coalesce({new_key}, {old_key}) AS {key} FROM {buffer}) AS b
            WINDOW w AS (PARTITION BY {key} ORDER BY seq))
        SELECT 'D', NULL, NULL{old} FROM c WHERE place = 1 AND action <> 'I'
        UNION ALL SELECT 'I', NULL, NULL{new} FROM c WHERE place = changes AND action <> 'D'"""
    ).format(
        key=sql.Identifier("__key"),
        new_key=sql.Identifier(f"new_{key}"),
        old_key=sql.Identifier(f"old_{key}"),
        buffer=sql.Identifier("public", buffer),
        old=old,
        new=new,
    )


def _each(shape: str, parts: Iterable[tuple[sql.Composable, ...]]) -> sql.Composed:
    return sql.SQL("").join(sql.SQL(shape).format(*part) for part in parts)
