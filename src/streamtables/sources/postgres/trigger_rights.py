"""Whether triggers can capture a table: rights, and kinds of tables that they do not see all of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from psycopg import Connection

from streamtables.engine.names import RESERVED_PREFIX
from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.server import SCHEMA

_RELATIONS = """
SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname), c.relkind::text, c.relpersistence::text,
       pg_catalog.pg_has_role(c.relowner, 'USAGE'),
       pg_catalog.format('GRANT %%I TO %%I;', pg_catalog.pg_get_userbyid(c.relowner), current_user),
       EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid = c.oid),
       (SELECT pg_catalog.min(h.inhparent)::regclass::text FROM pg_catalog.pg_inherits h
        WHERE h.inhrelid = c.oid AND h.inhparent <> ALL (%s::oid[]))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY (%s::oid[]) ORDER BY c.oid
"""

_SCHEMA = """
SELECT CASE WHEN n.oid IS NULL
            THEN pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')
            ELSE pg_catalog.has_schema_privilege(n.oid, 'CREATE')
                 AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') END,
       CASE WHEN n.oid IS NULL
            THEN pg_catalog.format('GRANT CREATE ON DATABASE %%I TO %%I;',
                                   pg_catalog.current_database(), current_user)
            ELSE pg_catalog.format('GRANT USAGE, CREATE ON SCHEMA %%I TO %%I;',
                                   n.nspname, current_user) END
FROM (SELECT pg_catalog.to_regnamespace(%s) AS oid) AS wanted
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = wanted.oid
"""

_Problem = tuple[str, str]
"""What is wrong, and what to do about it."""


def check_rights(connection: Connection[Any], table: PgTable) -> None:
    """Find all that stands against capturing a table, before anything is made.

    Raises:
        SourceUnusableError: something does; it names everything.
    """
    problems = [*_of_columns(table), *_of_schema(connection), *_of_relations(connection, table)]
    if problems:
        raise SourceUnusableError(
            f'triggers cannot capture the PostgreSQL table "{table.shown}"',
            detail=" ".join(dict.fromkeys(what for what, _ in problems)),
            hint=" ".join(dict.fromkeys(cure for _, cure in problems)),
        )


def _of_columns(table: PgTable) -> Iterator[_Problem]:
    if not table.columns:
        yield "The table has no columns.", "Capture a table that has some."
    for column in table.columns:
        if column.name.startswith(RESERVED_PREFIX):
            yield (
                f'The name of the column "{column.name}" begins like those of our own columns.',
                f'ALTER TABLE {table.shown} RENAME COLUMN "{column.name}" TO another_name;',
            )


def _of_schema(connection: Connection[Any]) -> Iterator[_Problem]:
    row = connection.execute(_SCHEMA, (SCHEMA,)).fetchone()
    if row is not None and not row[0]:
        yield f'The schema "{SCHEMA}" cannot be made or written to by this role.', row[1]


def _of_relations(connection: Connection[Any], table: PgTable) -> Iterator[_Problem]:
    oids = [table.oid, *(partition.oid for partition in table.partitions)]
    for name, kind, persistence, owned, grant, subscribed, parent in connection.execute(
        _RELATIONS, (oids, oids)
    ).fetchall():
        if parent is not None:
            # A statement fires the triggers of the table that it names.
            yield (
                f"{name} is a part of {parent}, and statements on that fire none of its triggers.",
                f"Capture {parent}, or {name} from the WAL (capture='wal', --capture wal).",
            )
        if kind not in ("r", "p"):
            what = "a foreign table" if kind == "f" else "not a table"
            yield f"{name} is {what}: triggers cannot see its rows.", f"Leave {name} out."
        if persistence != "p":
            # A crash empties an unlogged table, and no trigger fires.
            yield (
                f"{name} is a temporary or unlogged table.",
                f"ALTER TABLE {name} SET LOGGED;",
            )
        if not owned:
            yield f"{name} belongs to another role; only its owner can do this.", grant
        if subscribed:
            # What a subscription applies fires triggers of rows, none of statements.
            yield (
                f"{name} is written by a subscription, which does not fire these triggers.",
                f"Capture {name} from the WAL, or on the server that publishes it.",
            )
