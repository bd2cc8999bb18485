"""The quick oracle: DuckDB holds each table before and after, and checks incremental == full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar

import duckdb
import sqlglot
from sqlglot import exp

from streamtables.compiler.backend.duckdb import spark_to_duckdb, tree_to_duckdb
from streamtables.compiler.plan import Plan
from tests.support.bags import Bag, Row, add, bag_of, canonical

Columns = Mapping[str, str]
_TYPES = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "timestamp": "TIMESTAMPTZ",
}


class _Store:
    """A DuckDB that tests use in turn, and what it was told to hold.

    Opening one, and making its tables, takes longer than all that a test does with them.
    """

    free: ClassVar[list[_Store]] = []

    def __init__(self) -> None:
        self.connection = duckdb.connect(
            config={"threads": 1, "memory_limit": "2GB", "max_temp_directory_size": "0B"}
        )
        self.filled: set[tuple[str, str]] = set()
        self._columns: dict[tuple[str, str], Columns] = {}
        self._views: dict[str, str] = {}
        self.connection.execute("SET TimeZone = 'UTC'")
        # For a few rows a better plan is not worth its price, and some of the optimizer's rules
        # fail on statements as deep as ours.
        self.connection.execute("PRAGMA disable_optimizer")
        # Spark's name for what a scalar subquery of two rows does.
        self.connection.execute("CREATE OR REPLACE MACRO raise_error(message) AS error(message)")
        for schema in ("before", "after", "changes"):
            self.connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')

    def table(self, schema: str, name: str, columns: Columns) -> None:
        """Have an empty table."""
        if self._columns.get((schema, name)) == columns:
            self.empty(schema, name)
            return
        body = ", ".join(f'"{item}" {_TYPES.get(type_, type_)}' for item, type_ in columns.items())
        self.connection.execute(f'CREATE OR REPLACE TABLE "{schema}"."{name}" ({body})')
        self._columns[schema, name] = dict(columns)
        self._views.clear()

    def empty(self, schema: str, name: str) -> None:
        """Take the rows out of a table."""
        if (schema, name) in self.filled:
            self.connection.execute(f'DELETE FROM "{schema}"."{name}"')
            self.filled.discard((schema, name))

    def view(self, name: str, body: str) -> None:
        """Have a view."""
        if self._views.get(name) != body:
            self.connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS {body}')
            self._views[name] = body


@dataclass(frozen=True)
class Change:
    """One row that appeared (weight 1) or went (weight −1)."""

    row: Row
    weight: int


Batch = Mapping[str, Sequence[Change]]


def net_changes(changes: Iterable[Change]) -> list[tuple[Row, int]]:
    """Return each row that changed once, with its weight; rows are told apart by their bytes."""
    weights: dict[Row, int] = {}
    rows: dict[Row, Row] = {}
    for change in changes:
        image = tuple(canonical(value) for value in change.row)
        rows[image] = change.row
        weights[image] = weights.get(image, 0) + change.weight
    return [(rows[image], weight) for image, weight in weights.items() if weight]


class Database:
    """Tables that change in batches, in three versions: before, after, and the changes between."""

    def __init__(self, tables: Mapping[str, Columns]) -> None:
        self.tables = tables
        self.rows: dict[str, list[Row]] = {name: [] for name in tables}
        self._store = _Store.free.pop() if _Store.free else _Store()
        self._connection = self._store.connection
        for table, columns in tables.items():
            for schema in ("before", "after", "main"):
                self._store.table(schema, table, columns)
            self._store.table("changes", table, {**columns, "__st_weight": "bigint"})

    def close(self) -> None:
        """Leave the connection to the next one, which empties the tables it needs."""
        _Store.free.append(self._store)

    def keep(self, table: str) -> None:
        """Say that a table was given rows by a statement, so that they are replaced later."""
        self._store.filled.add(("main", table))

    def view(self, name: str, body: str) -> None:
        """Define a view."""
        self._store.view(name, body)

    def fill(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Set the rows of a table before the first refresh."""
        self.rows[table] = [tuple(row) for row in rows]
        for schema in ("main", "before", "after"):
            self.replace_rows(table, self.rows[table], schema)

    def apply(self, batch: Batch) -> None:
        """Move every table from before to after by one batch of changes."""
        for table in self.tables:
            before, changes = self.rows[table], batch.get(table, ())
            after = _changed(before, changes)
            self.rows[table] = after
            self.replace_rows(table, before, "before")
            self.replace_rows(table, after, "after")
            self.replace_rows(table, after, "main")
            netted = [(*row, weight) for row, weight in net_changes(changes)]
            self.replace_rows(table, netted, "changes")

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and return its rows."""
        try:
            return self._connection.execute(sql, list(values)).fetchall()
        except duckdb.OutOfMemoryException:
            return self._optimised(sql, values)

    def _optimised(self, sql: str, values: Sequence[Any]) -> list[Row]:
        """Run a statement whose plain plan is a product of all its tables."""
        self._connection.execute("PRAGMA enable_optimizer")
        try:
            return self._connection.execute(sql, list(values)).fetchall()
        finally:
            self._connection.execute("PRAGMA disable_optimizer")

    @property
    def column_names(self) -> list[str]:
        """The columns of the last statement's answer."""
        return [column[0] for column in self._connection.description or ()]

    def evaluate(self, plan: Plan) -> Bag:
        """Return the defining query's rows on the tables as they are now."""
        return bag_of(self.query(query_text(plan)))

    def replace_rows(self, table: str, rows: Sequence[Sequence[Any]], schema: str = "main") -> None:
        """Give a table other rows."""
        self._store.empty(schema, table)
        if rows:
            self._store.filled.add((schema, table))
            one = f"({', '.join('?' * len(rows[0]))})"
            values = [value for row in rows for value in row]
            self._connection.execute(
                f'INSERT INTO "{schema}"."{table}" VALUES {", ".join([one] * len(rows))}', values
            )


def _changed(before: Sequence[Row], changes: Sequence[Change]) -> list[Row]:
    images = [tuple(canonical(value) for value in row) for row in before]
    after = list(before)
    for change in changes:
        image = tuple(canonical(value) for value in change.row)
        if change.weight > 0:
            after.append(change.row)
            images.append(image)
        else:
            place = images.index(image)
            del after[place], images[place]
    return after


@lru_cache(maxsize=32)
def query_text(plan: Plan) -> str:
    """Return the defining query for DuckDB."""
    return plan.query_sql("duckdb")


@lru_cache(maxsize=32)
def delta_text(plan: Plan) -> str:
    """Return the delta for DuckDB."""
    return plan.delta_sql("duckdb")


def as_written(plan: Plan, moment: datetime) -> str:
    """Return the text that the user wrote, for DuckDB: what the defining query must mean.

    Where it asks for the time, it is told a moment.
    """
    if not plan.reads_clock:
        return spark_to_duckdb(plan.sql)
    tree = sqlglot.parse_one(plan.sql, read="spark")
    now = exp.cast(exp.Literal.string(moment.isoformat(" ")), "timestamptz")
    for call in list(tree.walk()):
        if isinstance(call, exp.CurrentDate):
            call.replace(exp.cast(now.copy(), "date"))
        elif isinstance(call, exp.CurrentTimestamp) or _is_now(call):
            call.replace(now.copy())
    return tree_to_duckdb(tree)


def _is_now(call: exp.Expr) -> bool:
    return isinstance(call, exp.Anonymous) and str(call.this).lower() == "now"


def check_history(plan: Plan, database: Database, batches: Iterable[Batch]) -> None:
    """Assert the law after every batch: what was there plus the delta is what full gives."""
    table = database.evaluate(plan)
    for number, batch in enumerate(batches, start=1):
        database.apply(batch)
        delta = database.query(delta_text(plan))
        assert len(bag_of(row[:-1] for row in delta)) == len(delta), "the delta is not netted"
        assert all(row[-1] for row in delta), "the delta has rows of weight zero"
        table = add(table, delta)
        full = database.evaluate(plan)
        assert table == full, (
            f"incremental differs from full after batch {number}\n"
            f"query: {plan.sql}\nbatch: {dict(batch)}\n"
            f"missing: { {r: w for r, w in full.items() if table.get(r) != w} }\n"
            f"extra: { {r: w for r, w in table.items() if full.get(r) != w} }"
        )
