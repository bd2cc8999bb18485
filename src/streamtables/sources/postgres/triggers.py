"""Capture by triggers: what is put on a server for a source, and taken off again.

A statement fires the triggers of the table that it names and of no other, so the partitions carry
them as well as their parent.  More triggers notice where those of statements do not tell all: see
`partition_moves`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from psycopg import Connection, sql

from streamtables.errors import SourceUnusableError, TransientError
from streamtables.sources.postgres import partition_moves
from streamtables.sources.postgres.buffer_columns import (
    BufferColumn,
    Captured,
    buffer_name,
    trigger_name,
)
from streamtables.sources.postgres.buffer_layout import describe_buffer, layout_of, read_layout
from streamtables.sources.postgres.facts import PgTable, describe_table
from streamtables.sources.postgres.server import SCHEMA
from streamtables.sources.postgres.trigger_rights import check_rights
from streamtables.sources.postgres.trigger_sql import (
    EVENTS,
    create_buffer,
    create_function,
    create_trigger,
    fingerprint,
)

# An expression is written for a search path; on this one the server's own names stand alone.
_COLUMNS = """
SELECT a.attname, n.nspname, t.typname,
       CASE WHEN t.typlen > 0 THEN CASE t.typalign WHEN 'd' THEN 8 WHEN 'i' THEN 4 WHEN 's' THEN 2
            ELSE 1 END ELSE 0 END,
       CASE WHEN a.attgenerated = 'v' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END
FROM unnest(%(names)s::text[], %(types)s::oid[]) WITH ORDINALITY AS w(name, type, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = %(oid)s AND a.attname = w.name
JOIN pg_catalog.pg_type t ON t.oid = w.type
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
ORDER BY w.place
"""

_SET_PATH = "SELECT pg_catalog.set_config('search_path', %s, true)"

_RELATIONS = """
SELECT c.oid::int8, n.nspname, c.relname, {fingerprint}, c.relnatts::int4
FROM unnest(%s::oid[]) WITH ORDINALITY AS w(oid, place)
JOIN pg_catalog.pg_class c ON c.oid = w.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
ORDER BY w.place
"""

FIRING = """
SELECT t.tgrelid::int8 AS relation, t.tgname::text AS name FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = %(schema)s AND t.tgname = ANY (%(names)s) AND t.tgenabled = 'A'
"""
"""Which of some triggers always fire, and on which relation."""

# The arguments of a trigger are kept one after the other, each with a zero byte at its end.
_RESHAPED = """
SELECT s.oid::int8
FROM (SELECT t.tgrelid AS oid,
             pg_catalog.string_to_array(pg_catalog.encode(t.tgargs, 'escape'), '\\000') AS shape
      FROM pg_catalog.pg_trigger t WHERE t.tgname = ANY (%(firsts)s)) AS s
WHERE s.shape[1]::bigint IS DISTINCT FROM
      CASE WHEN s.shape[3] = 'v' THEN {computed} ELSE {plain} END
"""

_TAGS = """
SELECT tag, EXISTS (
    SELECT FROM pg_catalog.pg_trigger t
    WHERE t.tgname IN ('__st_' || tag || '_insert', '__st_' || tag || '_wake'))
FROM (SELECT pg_catalog.substring(c.relname, '^changes_([0-9a-f]{8})$') AS tag
      FROM pg_catalog.pg_class c WHERE c.relnamespace = pg_catalog.to_regnamespace(%(schema)s)
        AND c.relkind = 'r'
      UNION
      SELECT pg_catalog.substring(p.proname,
          '^(?:insert|update|delete|truncate|wake)_([0-9a-f]{8})$')
      FROM pg_catalog.pg_proc p WHERE p.pronamespace = pg_catalog.to_regnamespace(%(schema)s)) AS f
WHERE tag IS NOT NULL ORDER BY tag
"""

_ALL = (*EVENTS, *partition_moves.ON_ALL, *partition_moves.ON_ROWS)


def install(connection: Connection[Any], table: PgTable, tag: str) -> None:
    """Capture the changes of a table from now on.

    A second call puts what is missing in its place, such as the triggers of a new partition.

    Raises:
        SourceUnusableError: a right is missing, or triggers cannot see all changes of the table.
        TransientError: the table is another than it was when it was described.
    """
    with connection.transaction():
        check_rights(connection, table)
        # Readers go on; writers wait until all triggers are there, or none.
        connection.execute(
            sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(table.identifier)
        )
        now = describe_table(connection, table.oid)
        if now is None or (now.columns, now.partitions) != (table.columns, table.partitions):
            raise TransientError(f'the PostgreSQL table "{table.shown}" was altered meanwhile')
        captured = describe_capture(connection, table, tag)
        _make_buffer(connection, table, captured)
        put_triggers(connection, captured, table)


def put_triggers(connection: Connection[Any], captured: Captured, table: PgTable) -> None:
    """Make or replace the functions, and the triggers on the table and all its partitions."""
    wanted = _wanted(table, connection.info.server_version)
    for event in dict.fromkeys(event for events in wanted.values() for event in events):
        connection.execute(create_function(captured, event))
        connection.execute(
            sql.SQL("REVOKE ALL ON FUNCTION {}() FROM PUBLIC").format(captured.function(event))
        )
    statement = sql.SQL(_RELATIONS).format(
        fingerprint=fingerprint(
            sql.SQL("c.oid"), sql.SQL("c.relnatts"), expressions=captured.computes
        )
    )
    relations = connection.execute(statement, (list(wanted),)).fetchall()
    for oid, schema, name, number, width in relations:
        relation = sql.Identifier(schema, name)
        for event in wanted[oid]:
            connection.execute(create_trigger(captured, event, relation, (number, width)))
            connection.execute(
                # Also for what a replication role writes.
                sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(
                    relation, captured.trigger(event)
                )
            )


def remove(connection: Connection[Any], tag: str) -> None:
    """Take triggers, functions and buffer off the server, whichever of them are left."""
    with connection.transaction():
        for statement in removal(tag):
            connection.execute(statement)


def removal(tag: str) -> Iterator[sql.Composed]:
    """Give the statements that take all of a source off a server."""
    for event in _ALL:
        # Takes the triggers along, on whatever relation they are.
        yield sql.SQL("DROP FUNCTION IF EXISTS {}() CASCADE").format(
            sql.Identifier(SCHEMA, f"{event}_{tag}")
        )
    yield sql.SQL("DROP TABLE IF EXISTS {}").format(buffer_name(tag))


def installed_on(connection: Connection[Any], tag: str) -> set[int]:
    """Return the relations on which all triggers of a source are there and always fire."""
    found = connection.execute(FIRING, {"schema": SCHEMA, "names": names(tag)}).fetchall()
    return complete_on(found, tag)


def misses(connection: Connection[Any], tag: str, table: PgTable) -> bool:
    """Whether a relation of a table lacks a trigger of a source, or has one that does not fire."""
    firing = connection.execute(FIRING, {"schema": SCHEMA, "names": names(tag)}).fetchall()
    return lacks(firing, tag, table, connection.info.server_version)


def lacks(firing: Iterable[Sequence[Any]], tag: str, table: PgTable, version: int) -> bool:
    """Whether the triggers that fire are not all of those that a table needs."""
    found = {(int(relation), name) for relation, name in firing}
    return any(
        (oid, trigger_name(tag, event)) not in found
        for oid, events in _wanted(table, version).items()
        for event in events
    )


def names(tag: str) -> list[str]:
    """Return the names of the triggers of a source, that of inserts first."""
    return [trigger_name(tag, event) for event in _ALL]


def complete_on(firing: Iterable[Sequence[Any]], tag: str) -> set[int]:
    """Return the relations that have every trigger that captures rows, of those that fire."""
    found = {(int(relation), name) for relation, name in firing}
    wanted = [trigger_name(tag, event) for event in EVENTS]
    return {oid for oid, _ in found if all((oid, name) in found for name in wanted)}


def reshaped(connection: Connection[Any], tag: str) -> set[int]:
    """Return the relations whose captured columns are not what they were.

    What was written to them since then is not in the buffer.
    """
    firsts = {"firsts": [trigger_name(tag, "insert")]}
    return {int(row[0]) for row in connection.execute(reshaped_relations(), firsts).fetchall()}


def reshaped_relations() -> sql.Composed:
    """Return the query for such relations; `firsts` are the insert triggers of some sources."""
    place = sql.SQL("s.oid"), sql.SQL("s.shape[2]::int2")
    return sql.SQL(_RESHAPED).format(
        computed=fingerprint(*place, expressions=True),
        plain=fingerprint(*place, expressions=False),
    )


def tags(connection: Connection[Any]) -> list[str]:
    """Return the tags of all sources that something is on the server for."""
    return [row[0] for row in connection.execute(_TAGS, {"schema": SCHEMA}).fetchall()]


def orphans(connection: Connection[Any]) -> list[str]:
    """Return the tags that have a buffer or functions, but no table that fills them."""
    found = connection.execute(_TAGS, {"schema": SCHEMA}).fetchall()
    return [tag for tag, has_triggers in found if not has_triggers]


def describe_capture(connection: Connection[Any], table: PgTable, tag: str) -> Captured:
    """Return what to capture of a table, as the server describes its columns now."""
    wanted = {
        "oid": table.oid,
        "names": [column.name for column in table.columns],
        "types": [column.type.oid for column in table.columns],
    }
    path = connection.execute("SELECT pg_catalog.current_setting('search_path')").fetchone()
    connection.execute(_SET_PATH, ("pg_catalog",))
    found = connection.execute(_COLUMNS, wanted).fetchall()
    connection.execute(_SET_PATH, path)
    columns = (
        BufferColumn(
            name,
            type_name,
            own_type=schema != "pg_catalog",
            aligned=aligned,
            expression=expression or "",
        )
        for name, schema, type_name, aligned, expression in found
    )
    moves = _may_move(table, connection.info.server_version)
    return Captured(tag, table.oid, tuple(columns), table.primary_key, moves)


def _may_move(table: PgTable, version: int) -> bool:
    return table.kind == "p" and version >= partition_moves.MERGES_FROM


def _wanted(table: PgTable, version: int) -> dict[int, tuple[str, ...]]:
    """Return the triggers that each relation of a table needs."""
    if not _may_move(table, version):
        return dict.fromkeys(table.relations, EVENTS)
    on_all = (*EVENTS, *partition_moves.ON_ALL)
    leaves = [partition.oid for partition in table.partitions if partition.kind == "r"]
    return dict.fromkeys(table.relations, on_all) | dict.fromkeys(leaves, _ALL)


def _make_buffer(connection: Connection[Any], table: PgTable, captured: Captured) -> None:
    """Make the buffer; one that is there already has to have the same columns."""
    there = connection.execute("SELECT pg_catalog.to_regnamespace(%s)", (SCHEMA,)).fetchone()
    if there == (None,):
        # IF NOT EXISTS would ask for the right to make schemas even when this one is there.
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
    found = read_layout(connection, captured.tag)
    if found is None:
        connection.execute(create_buffer(captured))
        connection.execute(describe_buffer(captured))
    elif found != layout_of(captured):
        raise SourceUnusableError(
            f'the changes of the PostgreSQL table "{table.shown}" are captured with other columns',
            detail="Columns were altered after the capture was set up.",
            hint="Remove the capture and set it up again; the table is then copied anew.",
        )
