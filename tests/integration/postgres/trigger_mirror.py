"""A mirror in Python: a bag of rows that follows a captured table, drain by drain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import Connection, IsolationLevel, sql

from streamtables.engine.names import WEIGHT
from streamtables.sources.postgres import buffer, triggers
from streamtables.sources.postgres.buffer import BufferBatch
from streamtables.sources.postgres.copy_text import copied
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import from_text, map_columns

TAG = "0a1b2c3d"
Bag = Counter[tuple[Any, ...]]


class Mirror:
    """Follows one table; `drain` compares the bag with the table at the drain's own snapshot."""

    def __init__(self, url: str, table: str, tag: str = TAG) -> None:
        self.url, self.tag = url, tag
        with Server(url).connected("test") as connection:
            found = describe_table(connection, find_table(connection, table))
            assert found is not None
            triggers.install(connection, found, tag)
        self.table: PgTable = found
        self.columns = map_columns(found)
        self.copy_anew()

    def copy_anew(self) -> None:
        with self._snapshot() as (connection, position):
            self.bag, self.position = self._rows_of_table(connection), position

    def drain(self, batch_rows: int = 1_000) -> list[BufferBatch]:
        """Apply what came since the last drain; the bag has to be the table."""
        with self._snapshot() as (connection, position):
            found = list(buffer.read(connection, self.tag, self.columns, self.position, batch_rows))
            for batch in found:
                assert batch.unexplained is None, batch.unexplained
                self._apply(batch)
            assert self.bag == self._rows_of_table(connection)
            self.position = position
        return found

    def peek(self) -> list[BufferBatch]:
        """Return what a drain would read, without comparing it."""
        with self._snapshot() as (connection, _):
            return list(buffer.read(connection, self.tag, self.columns, self.position, 1_000))

    def trim(self) -> int:
        with Server(self.url).connected("test") as connection:
            return buffer.trim(connection, self.tag, self.position)

    def _apply(self, batch: BufferBatch) -> None:
        if batch.cleared:
            self.bag.clear()
        *values, weights = (batch.rows.column(name).to_pylist() for name in batch.rows.column_names)
        assert batch.rows.column_names[-1] == WEIGHT
        for *row, weight in zip(*values, weights, strict=True):
            # Not Counter's +=, which hides a row that went before it came.
            self.bag[_row(row)] += weight
        self.bag = Counter({row: number for row, number in self.bag.items() if number})

    def _rows_of_table(self, connection: Connection[Any]) -> Bag:
        names = sql.SQL(", ").join(sql.Identifier(column.name) for column in self.columns)
        select = sql.SQL("SELECT {} FROM {}").format(names, self.table.identifier)
        found: Bag = Counter()
        for texts in copied(connection, select, len(self.columns), 10_000):
            typed = [
                from_text(text, column).to_pylist()
                for text, column in zip(texts.columns, self.columns, strict=True)
            ]
            found.update(_row(row) for row in zip(*typed, strict=True))
        return found

    @contextmanager
    def _snapshot(self) -> Iterator[tuple[Connection[Any], str]]:
        with Server(self.url).connected("test", autocommit=False) as connection:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            row = connection.execute("SELECT pg_current_snapshot()::text").fetchone()
            assert row is not None
            yield connection, row[0]


def _row(values: Any) -> tuple[Any, ...]:
    return tuple(str(v) if isinstance(v, list | dict | float) else v for v in values)


def run(url: str, *statements: str) -> None:
    """Run statements, each on its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def rows(batch: BufferBatch) -> list[dict[str, Any]]:
    """Return a batch's rows for comparing."""
    table: pa.Table = batch.rows
    return table.to_pylist()
