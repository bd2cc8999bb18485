"""Why the log of a server cannot be read, or a table's changes not be found in it.

Every reason is a sentence with the setting or the statement that removes it, and all of them are
named at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.facts import PgTable

_STORED_COLUMNS_FROM = 180_000

_SERVER = """
SELECT current_setting('server_version_num')::int4, pg_catalog.pg_is_in_recovery(),
       current_setting('wal_level'), current_setting('max_replication_slots')::int4,
       (SELECT count(*) FROM pg_catalog.pg_replication_slots)::int4,
       current_setting('max_slot_wal_keep_size'), current_user::text, current_database()::text,
       r.rolsuper, r.rolreplication,
       has_database_privilege(current_database(), 'CREATE')
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""

# A column that is computed when it is read is in no row, and so in no log.
_TABLE = """
SELECT pg_catalog.pg_has_role(c.relowner, 'USAGE'), c.relowner::regrole::text,
       ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
             WHERE a.attrelid = c.oid AND a.attgenerated = 'v' AND NOT a.attisdropped
             ORDER BY a.attnum),
       ARRAY(SELECT p.oid::regclass::text FROM pg_catalog.pg_partition_tree(c.oid) t
             JOIN pg_catalog.pg_class p ON p.oid = t.relid
             WHERE t.isleaf AND c.relkind = 'p' AND p.relreplident <> c.relreplident
             ORDER BY 1)
FROM pg_catalog.pg_class c WHERE c.oid = %s
"""


@dataclass(frozen=True)
class ServerFacts:
    """What a server and our role on it allow."""

    version: int
    """As the server counts: 180003 is 18.3."""
    in_recovery: bool
    wal_level: str
    slots: int
    slots_used: int
    keep_size: str
    """`max_slot_wal_keep_size`: how much log a slot may keep before the server gives it up."""
    role: str
    database: str
    superuser: bool
    replication: bool
    may_create: bool
    """Whether the role may create publications in the database."""

    @property
    def free_slots(self) -> int:
        """How many more slots the server has room for."""
        return self.slots - self.slots_used


@dataclass(frozen=True)
class TableFacts:
    """What a table's changes in the log depend on, beside its shape."""

    owned: bool
    owner: str
    virtual: tuple[str, ...] = ()
    """Columns that are computed when they are read."""
    partitions_apart: tuple[str, ...] = ()
    """Partitions with another replica identity than the table."""


def server_facts(connection: Connection[Any]) -> ServerFacts:
    """Ask the server what it allows."""
    row = connection.execute(_SERVER).fetchone()
    assert row is not None
    return ServerFacts(*row)


def table_facts(connection: Connection[Any], table: PgTable) -> TableFacts:
    """Ask the server what a table's changes in the log depend on."""
    row = connection.execute(_TABLE, (table.oid,)).fetchone()
    if row is None:
        return TableFacts(owned=False, owner="")
    return TableFacts(bool(row[0]), row[1], tuple(row[2]), tuple(row[3]))


def what_blocks(facts: ServerFacts, *, has_slot: bool = False) -> tuple[str, ...]:
    """Return every reason why the server's log cannot be read."""
    return tuple(_server_reasons(facts, has_slot))


def table_blocks(table: PgTable, facts: TableFacts, server: ServerFacts) -> tuple[str, ...]:
    """Return every reason why a table's changes cannot be taken from the log."""
    return tuple(_table_reasons(table, facts, server))


def _server_reasons(facts: ServerFacts, has_slot: bool) -> Iterator[str]:
    role, database = _quoted(facts.role), _quoted(facts.database)
    if facts.in_recovery:
        yield "The server is a standby; capture from its primary."
    if facts.wal_level != "logical":
        yield (
            f"wal_level is {facts.wal_level}: ALTER SYSTEM SET wal_level = 'logical'; "
            "then restart the server."
        )
    if facts.free_slots < 1 and not has_slot:
        yield (
            f"All {facts.slots} replication slots are in use: ALTER SYSTEM SET "
            f"max_replication_slots = {facts.slots + 5}; then restart the server, "
            "or drop a slot that nobody reads."
        )
    if not (facts.superuser or facts.replication):
        yield f"The role {role} may not read the log: ALTER ROLE {role} REPLICATION;"
    if not (facts.superuser or facts.may_create):
        yield (
            f"The role {role} may not create a publication: "
            f"GRANT CREATE ON DATABASE {database} TO {role};"
        )


def _table_reasons(table: PgTable, facts: TableFacts, server: ServerFacts) -> Iterator[str]:
    name = table.identifier.as_string(None)
    if table.kind not in ("r", "p"):
        yield f"{table.shown} is not a table; only tables are in the log."
        return
    if table.persistence != "p":
        yield f"{table.shown} is not in the log: ALTER TABLE {name} SET LOGGED;"
    if not (facts.owned or server.superuser):
        yield (
            f"Only the owner of {table.shown} may publish it: "
            f"GRANT {facts.owner} TO {_quoted(server.role)};"
        )
    if table.kind == "r" and table.partitions:
        yield f"{table.shown} has child tables by inheritance; capture each of them by itself."
    if table.identity != "f" and not table.identity_columns:
        yield (
            f"{table.shown} has no replica identity, and its UPDATE and DELETE would fail once it "
            f"is published: ALTER TABLE {name} REPLICA IDENTITY FULL; or give it a primary key."
        )
    for partition in facts.partitions_apart:
        wanted = {"f": "FULL", "d": "DEFAULT"}.get(table.identity, "USING INDEX …")
        yield (
            f"The partition {partition} has another replica identity than {table.shown}: "
            f"ALTER TABLE {partition} REPLICA IDENTITY {wanted};"
        )
    yield from _column_reasons(table, facts, server)


def _column_reasons(table: PgTable, facts: TableFacts, server: ServerFacts) -> Iterator[str]:
    generated = [column.name for column in table.columns if column.generated]
    stored = [name for name in generated if name not in facts.virtual]
    if facts.virtual:
        names = ", ".join(map(_quoted, facts.virtual))
        yield (
            f"{table.shown} computes {names} when it is read, so no log has it: make it STORED, "
            "or capture the table with triggers."
        )
    if stored and server.version < _STORED_COLUMNS_FROM:
        yield (
            f"{table.shown} has generated columns ({', '.join(map(_quoted, stored))}), which "
            "PostgreSQL publishes from 18 on: capture the table with triggers."
        )


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string(None)
