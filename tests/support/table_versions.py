"""Every version of some tables in one DuckDB database, and the changes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa


class TableVersions:
    """Version 0 is read from one Parquet file for each table; each round adds one.

    Version 3 is in the schema `v3`, and what led to it in `c3`.  In a file rather than in memory,
    as DuckDB compresses only what it stores.
    """

    def __init__(
        self,
        data: Path,
        database: Path,
        tables: Mapping[str, Mapping[str, str]],
        keys: Mapping[str, Sequence[str]],
    ) -> None:
        self.tables = tables
        self.keys = keys
        self.rounds = 0
        self.connection = duckdb.connect(str(database))
        self.connection.execute("CREATE SCHEMA v0")
        for table, columns in tables.items():
            source = str(data / f"{table}.parquet").replace("'", "''")
            self.connection.execute(
                f"CREATE TABLE v0.{table} AS "
                f"SELECT {', '.join(columns)} FROM read_parquet('{source}')"
            )
        for schema in ("before", "after", "changes"):
            self.connection.execute(f"CREATE SCHEMA {schema}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def show(self, number: int) -> None:
        """Give the tables of one round the names by which plans read them.

        Round 0 is the state before any change.
        """
        before = f"v{max(0, number - 1)}"
        for table in self.tables:
            self._view(f"before.{table}", f"FROM {before}.{table}")
            for name in (f"after.{table}", f"main.{table}"):
                self._view(name, f"FROM v{number}.{table}")
            if number:
                self._view(f"changes.{table}", f"FROM c{number}.{table}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query on the tables that are shown."""
        return self.connection.execute(sql).fetchall()

    def table(self, table: str) -> pa.RecordBatchReader:
        """Return the first rows of a table, in the order of its key."""
        query = f"FROM v0.{table} ORDER BY {', '.join(self.keys[table])}"
        return self.connection.sql(query).to_arrow_reader()

    def changed_rows(self, table: str, number: int) -> pa.Table:
        """Return one row for each key that a round touches: its last image, and whether it went."""
        key, columns = (", ".join(names) for names in (self.keys[table], self.tables[table]))
        return self.connection.sql(
            f"""
            SELECT {columns}, FALSE AS gone FROM c{number}.{table} WHERE __st_weight > 0
            UNION ALL
            SELECT {columns}, TRUE AS gone FROM c{number}.{table} ANTI JOIN (
                FROM c{number}.{table} WHERE __st_weight > 0
            ) USING ({key})
            """
        ).to_arrow_table()

    def forget(self, numbers: Sequence[int]) -> None:
        """Drop versions that nothing reads any more."""
        for number in numbers:
            self.connection.execute(f"DROP SCHEMA IF EXISTS v{number} CASCADE")

    def _view(self, name: str, query: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
