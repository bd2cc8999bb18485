"""What a server and a table need for capture, checked before anything is changed.

All that is missing is said at once, with the statements that help.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg import Connection, sql

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.server import NEWEST, OLDEST, Server

_KINDS = {
    "v": "a view",
    "m": "a materialized view",
    "f": "a foreign table",
    "S": "a sequence",
    "i": "an index",
    "c": "a composite type",
}

# Whether policies hold for the role: not for one that bypasses them, nor for the owner of a table
# that does not force them on it.
_MAY_READ = """
SELECT current_user::text, has_table_privilege(c.oid, 'SELECT'),
       pg_catalog.row_security_active(c.oid), c.relforcerowsecurity,
       pg_catalog.pg_get_userbyid(c.relowner)::text
FROM pg_catalog.pg_class c WHERE c.oid = %s
"""


@dataclass
class AllMissing:
    """Gathers what several checks find, to be said at once."""

    shown: str
    """The name of the table."""
    _found: list[SourceUnusableError] = field(default_factory=list)

    @contextmanager
    def check(self) -> Iterator[None]:
        """Keep what a check finds, so that the next one is made too."""
        try:
            yield
        except SourceUnusableError as found:
            self._found.append(found)

    def refuse(self) -> None:
        """Raise all that was found as one error; nothing where nothing was."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            details = dict.fromkeys(error.detail or error.message for error in self._found)
            hints = dict.fromkeys(error.hint for error in self._found if error.hint)
            raise SourceUnusableError(
                f"the table {self.shown} cannot be captured yet",
                detail=" ".join(details),
                hint=" ".join(hints),
            )


def require_server(connection: Connection[Any], server: Server) -> None:
    """Refuse servers that are too old, too new to be known, or copies of another."""
    version = connection.info.server_version // 10_000
    if not OLDEST <= version <= NEWEST:
        raise SourceUnusableError(
            f"the PostgreSQL server {server.shown} has version {version}",
            detail=f"Versions {OLDEST} to {NEWEST} can be captured.",
        )
    row = connection.execute("SELECT pg_catalog.pg_is_in_recovery()").fetchone()
    if row == (True,):
        raise SourceUnusableError(
            f"the PostgreSQL server {server.shown} is a standby, which is read-only",
            hint="Give the address of its primary.",
        )


def require_table(table: PgTable) -> None:
    """Refuse what has no rows of its own."""
    if table.kind not in ("r", "p"):
        what = _KINDS.get(table.kind, "no table")
        raise SourceUnusableError(
            f"{table.shown} is {what}, whose changes cannot be captured",
            hint="Capture the tables that it reads, and write the query as a stream table.",
        )


def require_capturable(
    connection: Connection[Any], table: PgTable, blocks: tuple[str, ...] = ()
) -> None:
    """Refuse a table that cannot be captured, naming all that is missing.

    `blocks` are the reasons why the WAL cannot be read, where it was asked for.
    """
    require_table(table)
    missing = [*_lasting(table), *_rights(connection, table)]
    if missing or blocks:
        raise SourceUnusableError(
            f"the table {table.shown} cannot be captured yet",
            detail=" ".join([*(f"{why}." for why, _ in missing), *blocks]),
            hint=" ".join(f"{fix};" for _, fix in missing)
            or "Do what each reason says, or use capture='triggers' (--capture triggers).",
        )


def _lasting(table: PgTable) -> list[tuple[str, str]]:
    name = table.identifier.as_string(None)
    if table.persistence == "u":
        return [("It is unlogged, and empty after a crash", f"ALTER TABLE {name} SET LOGGED")]
    if table.persistence == "t":
        return [("It is temporary, and others cannot see it", "Use an ordinary table")]
    return []


def _rights(connection: Connection[Any], table: PgTable) -> list[tuple[str, str]]:
    row = connection.execute(_MAY_READ, (table.oid,)).fetchone()
    assert row is not None
    role, may_read, policies, forced, owner = row
    missing = []
    reader = sql.Identifier(role).as_string(None)
    if not may_read:
        grant = f"GRANT SELECT ON {table.identifier.as_string(None)} TO {reader}"
        missing.append((f"The role {reader} may not read it", grant))
    if policies:
        fix = f"ALTER ROLE {reader} BYPASSRLS"
        if not forced:
            fix += f"; or GRANT {sql.Identifier(owner).as_string(None)} TO {reader}"
        why = f"Its row-level security could hide rows from the role {reader}"
        missing.append((why, fix))
    return missing
