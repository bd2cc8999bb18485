"""One round of changes to all tables, as SQL for DuckDB.

Of the rows that a round draws from a large table, a third goes, a third takes every second value
from the row drawn after it, and a third comes once more under a new key.  The rows of small tables
only exchange values, as a shop without its only warehouse has no results left.

Every choice is drawn by MD5 from the seed, the round and the row's key: the same in every run and
in every release of DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.table_versions import TableVersions

SEED = 1
SMALL = 50
"""Tables with fewer rows than this keep all of them."""


@dataclass(frozen=True)
class Round:
    """The changes that lead from one version of all tables to the next."""

    versions: TableVersions
    number: int
    share: float
    seed: int = SEED

    def statements(self) -> Iterator[str]:
        """Make the new version, then the netted changes between the two."""
        yield f"CREATE SCHEMA v{self.number}"
        yield f"CREATE SCHEMA c{self.number}"
        for table in self.versions.tables:
            yield self._new_version(table)
            yield self._changes(table)

    def _new_version(self, table: str) -> str:
        key, columns = self.versions.keys[table], self.versions.tables[table]
        values = [name for name in columns if name not in key]
        taken = {name: f"lead({name}) OVER (ORDER BY place)" for name in values[::2]}
        exchanged = ", ".join(
            f"coalesce({taken[n]}, {n}) AS {n}" if n in taken else n for n in columns
        )
        top = f"(SELECT max({key[-1]}) FROM {self._old(table)})"
        copied = ", ".join(
            f"({top} + place)::{columns[n]} AS {n}" if n == key[-1] else n for n in columns
        )
        shown = ", ".join(columns)
        return f"""
            CREATE TABLE v{self.number}.{table} AS
            WITH size AS (SELECT count(*) AS n FROM {self._old(table)}),
            drawn AS (
                SELECT *, row_number() OVER (ORDER BY {self._draw(table)}, {", ".join(key)})
                    AS place
                FROM {self._old(table)}
            ), placed AS (
                SELECT * EXCLUDE (n), CASE WHEN n < {SMALL} THEN 1 ELSE place % 3 END AS kind
                FROM drawn, size WHERE place <= greatest(3, round(n * {self.share}))
            )
            SELECT {shown} FROM {self._old(table)}
            ANTI JOIN (FROM placed WHERE kind < 2) USING ({", ".join(key)})
            UNION ALL SELECT {exchanged} FROM placed WHERE kind = 1
            UNION ALL SELECT {copied} FROM placed WHERE kind = 2
        """

    def _changes(self, table: str) -> str:
        new, old = f"FROM v{self.number}.{table}", f"FROM {self._old(table)}"
        return f"""
            CREATE TABLE c{self.number}.{table} AS
            SELECT *, 1::BIGINT AS __st_weight FROM ({new} EXCEPT ALL {old})
            UNION ALL SELECT *, -1::BIGINT FROM ({old} EXCEPT ALL {new})
        """

    def _draw(self, table: str) -> str:
        """Return a number of 63 bits for each key."""
        key = ", ".join(self.versions.keys[table])
        return f"md5_number_lower(concat_ws('/', {self.seed}, {self.number}, {key})) >> 1"

    def _old(self, table: str) -> str:
        return f"v{self.number - 1}.{table}"


def add_round(versions: TableVersions, share: float, *, seed: int = SEED) -> int:
    """Change every table once more, and return the number of the new version."""
    versions.rounds += 1
    for statement in Round(versions, versions.rounds, share, seed).statements():
        versions.connection.execute(statement)
    return versions.rounds
