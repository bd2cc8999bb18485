"""The publication of a captured database: the tables whose changes its slot sends.

It has to be there before the slot: the slot reads the publication as it was at each change, and
PostgreSQL before 18 stops at a change that is older than the publication.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.facts import PgTable

_GENERATED_FROM = 180_000

_HAS = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_publication WHERE pubname = %s)"
_MEMBERS = """
SELECT r.prrelid::int8 FROM pg_catalog.pg_publication p
JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid WHERE p.pubname = %s
"""


def object_name(tag: str) -> str:
    """Return the name of the publication, and of the slot, of a database."""
    return f"streamtables_{tag}"


def exists(connection: Connection[Any], publication: str) -> bool:
    """Whether the publication is there."""
    row = connection.execute(_HAS, (publication,)).fetchone()
    return bool(row and row[0])


def create(connection: Connection[Any], publication: str) -> None:
    """Make the publication, without tables, unless it is there."""
    if exists(connection, publication):
        return
    options = [sql.SQL("publish_via_partition_root = true")]
    if connection.info.server_version >= _GENERATED_FROM:
        options.append(sql.SQL("publish_generated_columns = stored"))
    connection.execute(
        sql.SQL("CREATE PUBLICATION {} WITH ({})").format(
            sql.Identifier(publication), sql.SQL(", ").join(options)
        )
    )


def tables(connection: Connection[Any], publication: str) -> frozenset[int]:
    """Return the oids of the tables that the publication names."""
    return frozenset(int(row[0]) for row in connection.execute(_MEMBERS, (publication,)))


def add_table(connection: Connection[Any], publication: str, table: PgTable) -> None:
    """Send the table's changes from now on.

    A change is sent when the table was in the publication at the moment of the change.  A writer
    that wrote before and commits later would be sent in part, so writers are waited for: the lock
    keeps them out until the publication has the table.  Reading goes on meanwhile.
    """
    with connection.transaction():
        connection.execute(
            sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(table.identifier)
        )
        if table.oid not in tables(connection, publication):
            _alter(connection, publication, sql.SQL("ADD TABLE {}").format(table.identifier))


def remove_table(connection: Connection[Any], publication: str, table: PgTable) -> None:
    """Send the table's changes no more."""
    with connection.transaction():
        if table.oid in tables(connection, publication):
            _alter(connection, publication, sql.SQL("DROP TABLE {}").format(table.identifier))


def drop(connection: Connection[Any], publication: str) -> None:
    """Remove the publication; the tables and their rows stay as they are."""
    connection.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(publication)))


def _alter(connection: Connection[Any], publication: str, what: sql.Composable) -> None:
    connection.execute(sql.SQL("ALTER PUBLICATION {} {}").format(sql.Identifier(publication), what))
