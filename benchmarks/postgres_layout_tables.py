"""Equal tables whose changes are captured in two layouts, and how each layout is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from psycopg import Connection, sql

from benchmarks import postgres_wide
from streamtables.engine.arrow_rows import with_weight
from streamtables.sources.postgres.buffer_columns import buffer_name
from streamtables.sources.postgres.copy_text import copied
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.triggers import install
from streamtables.sources.postgres.types import from_text, map_columns

FLAT, WIDE = "flat", "wide"
LAYOUTS = (FLAT, WIDE)
FLAT_BY_SERVER, WIDE_BY_SERVER = "flat, by the server", "wide, by the server"
_BATCH_ROWS = 50_000
_TYPES = (
    ("int", "n % 100"),
    ("text", "'name ' || n"),
    ("numeric(12,2)", "n / 100.0"),
    ("timestamptz", "timestamptz '2026-01-01 00:00:00+00' + n * interval '1 second'"),
    ("bigint", "n * 7"),
    ("text", "md5(n::text)"),
    ("date", "date '2026-01-01' + (n % 365)::int"),
    ("boolean", "n % 2 = 0"),
    ("float8", "n * 1.5"),
)


@dataclass(frozen=True)
class Fixture:
    """Two equal tables of some columns, each captured in its own layout."""

    connection: Connection[Any]
    columns: int
    rows: int

    def __post_init__(self) -> None:
        typed = ", ".join(f"c{n} {self._kind(n)[0]}" for n in range(1, self.columns))
        for layout in LAYOUTS:
            self.connection.execute(
                f"CREATE TABLE {self._table(layout)} (id bigint PRIMARY KEY, {typed})"
            )
        install(self.connection, self._described(FLAT), self._tag)
        postgres_wide.install(self.connection, self._described(WIDE), self._wide_buffer)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, the key first."""
        return ("id", *(f"c{n}" for n in range(1, self.columns)))

    def write(self, layout: str, *statements: str) -> float:
        """Run statements on the table of a layout; return their seconds."""
        began = perf_counter()
        for statement in statements:
            self.connection.execute(statement.format(table=self._table(layout)))
        return perf_counter() - began

    @property
    def insert(self) -> str:
        """The statement that fills a table."""
        values = ", ".join(self._kind(n)[1] for n in range(1, self.columns))
        return f"INSERT INTO {{table}} SELECT n, {values} FROM generate_series(1, {self.rows}) n"

    def empty(self) -> None:
        """Leave tables and buffers as a drain and its trim leave them: empty, and clean."""
        for layout in LAYOUTS:
            self.connection.execute(f"DELETE FROM {self._table(layout)}")
        self.forget()

    def forget(self) -> None:
        """Empty the buffers alone."""
        for layout in LAYOUTS:
            name = self._buffer(layout).as_string(None)
            self.connection.execute(f"DELETE FROM {name}")
            self.connection.execute(f"VACUUM {name}, {self._table(layout)}")
        self.connection.execute("CHECKPOINT")

    def select(self, kind: str) -> tuple[sql.Composed, int]:
        """Return the query that reads the changes in one of the ways, and how wide it is."""
        if kind == FLAT:
            return self._select_flat(), 3 + self.columns
        if kind == WIDE:
            wide = postgres_wide.select_all(self._wide_buffer, self.names)
            return wide, 3 + 2 * self.columns
        if kind == FLAT_BY_SERVER:
            return self._select_flat_netted(), 3 + self.columns
        netted = postgres_wide.select_netted(self._wide_buffer, self.names, "id")
        return netted, 3 + self.columns

    def signed(self, kind: str) -> pa.Table:
        """Return the changes as signed rows in the mirror's types."""
        query, width = self.select(kind)
        parts = list(copied(self.connection, query, width, _BATCH_ROWS))
        return pa.concat_tables([table for part in parts for table in self._typed(kind, part)])

    def bytes_read(self, kind: str) -> int:
        """Return how much the server sends for all changes."""
        query, _ = self.select(kind)
        statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(query)
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            return sum(len(row) for row in copy)

    def heap_bytes(self, layout: str) -> int:
        """Return the size of a buffer on the server."""
        name = self._buffer(layout).as_string(None)
        row = self.connection.execute("SELECT pg_table_size(%s::regclass)", (name,)).fetchone()
        assert row is not None
        return int(row[0])

    def _typed(self, kind: str, texts: pa.Table) -> Iterator[pa.Table]:
        action, _, _, *values = texts.columns
        columns = map_columns(self._described(FLAT))
        if kind != WIDE:
            rows = pa.table({c.name: from_text(v, c) for c, v in zip(columns, values, strict=True)})
            came = pc.equal(action, "I")
            yield with_weight(rows.filter(came), 1)
            yield with_weight(rows.filter(pc.invert(came)), -1)
            return
        half = len(columns)
        for texts_of, without, weight in ((values[:half], "I", -1), (values[half:], "D", 1)):
            there = pc.not_equal(action, without)
            # Only what is there is typed: half of an insert or a delete is NULL.
            rows = pa.table(
                {
                    c.name: from_text(v.filter(there), c)
                    for c, v in zip(columns, texts_of, strict=True)
                }
            )
            yield with_weight(rows, weight)

    def _select_flat(self) -> sql.Composed:
        return sql.SQL(
            "SELECT __st_action, __st_changed, (1000000 * extract(epoch FROM __st_at))::bigint, {} "
            "FROM {} WHERE __st_action IN ('D', 'I') ORDER BY __st_seq"
        ).format(sql.SQL(", ").join(map(sql.Identifier, self.names)), self._buffer(FLAT))

    def _select_flat_netted(self) -> sql.Composed:
        return sql.SQL(
            """SELECT __st_action, NULL, NULL, {} FROM (
                SELECT *, row_number() OVER w AS place, count(*) OVER (PARTITION BY id) AS changes
                FROM {} WINDOW w AS (PARTITION BY id ORDER BY __st_seq)) AS c
            WHERE (place = 1 AND __st_action = 'D') OR (place = changes AND __st_action = 'I')"""
        ).format(sql.SQL(", ").join(map(sql.Identifier, self.names)), self._buffer(FLAT))

    def _described(self, layout: str) -> PgTable:
        table = describe_table(
            self.connection, find_table(self.connection, f"public.{self._table(layout)}")
        )
        assert table is not None
        return table

    def _table(self, layout: str) -> str:
        return f"{layout}_{self.columns}"

    def _buffer(self, layout: str) -> sql.Identifier:
        if layout == FLAT:
            return buffer_name(self._tag)
        return sql.Identifier("public", self._wide_buffer)

    @property
    def _tag(self) -> str:
        return f"{self.columns:08x}"

    @property
    def _wide_buffer(self) -> str:
        return f"changes_wide_{self.columns}"

    @staticmethod
    def _kind(number: int) -> tuple[str, str]:
        return _TYPES[(number - 1) % len(_TYPES)]
