"""The quick oracle: DuckDB holds each table before and after, and checks incremental == full."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
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


_KEPT_STATEMENTS = 300


def _type(kind: str) -> str:
    """Return DuckDB's name for a type."""
    if match := re.fullmatch(r"array<(.+)>", kind):
        return f"{_type(match[1])}[]"
    if match := re.fullmatch(r"map<(\w+),\s*(\w+)>", kind):
        return f"MAP({_type(match[1])}, {_type(match[2])})"
    return _TYPES.get(kind, kind)


def _bound(value: Any, kind: str) -> Any:
    """Return a value as DuckDB takes it: a map is its keys and its values."""
    if isinstance(value, list) and kind.endswith("[]"):
        return [_bound(item, kind[:-2]) for item in value]
    if isinstance(value, dict) and kind.startswith("MAP"):
        return {"key": list(value), "value": list(value.values())}
    return value


def _holds_map(value: Any) -> bool:
    return any(map(_holds_map, value)) if isinstance(value, list) else isinstance(value, dict)


class _Store:
    """A DuckDB that tests use in turn, and what it was told to hold.

    Opening one, making its tables and planning its statements takes longer than all that a test
    does with them, so tables are refilled and statements that come again are prepared.
    """

    free: ClassVar[list[_Store]] = []

    def __init__(self) -> None:
        self.connection = duckdb.connect(
            config={"threads": 1, "memory_limit": "2GB", "max_temp_directory_size": "0B"}
        )
        self.broken = False
        self.filled: dict[tuple[str, str], object] = {}
        """Which tables have rows, and the list that they were given, if it was a list."""
        self._columns: dict[tuple[str, str], Columns] = {}
        self._views: dict[str, str] = {}
        self._made: dict[str, str] = {}
        self._statements: OrderedDict[str, str | None] = OrderedDict()
        self._numbers = count()
        self.connection.execute("SET TimeZone = 'UTC'")
        # For a few rows a better plan is not worth its price, and some of the optimizer's rules
        # fail on statements as deep as ours.
        self.connection.execute("PRAGMA disable_optimizer")
        # The plan of a sorted range join runs only once, and prepared ones run again.
        self.connection.execute("SET nested_loop_join_threshold = 1000000000")
        for schema in ("before", "after", "changes"):
            self.connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')

    def table(self, schema: str, name: str, columns: Columns) -> None:
        """Have an empty table."""
        known = self._columns.get((schema, name))
        # Columns in another order are another table.
        if known is not None and list(known.items()) == list(columns.items()):
            self.empty(schema, name)
            return
        body = ", ".join(f'"{item}" {_type(type_)}' for item, type_ in columns.items())
        self.connection.execute(f'CREATE OR REPLACE TABLE "{schema}"."{name}" ({body})')
        self._columns[schema, name] = dict(columns)
        self.filled.pop((schema, name), None)
        self._views.clear()
        self._made.clear()

    def empty(self, schema: str, name: str) -> None:
        """Take the rows out of a table."""
        if (schema, name) in self.filled:
            self.run(f'DELETE FROM "{schema}"."{name}"')
            del self.filled[schema, name]

    def holds(self, schema: str, name: str, rows: object) -> bool:
        """Whether a table was given this very list, and nothing else since."""
        return self.filled.get((schema, name)) is rows

    def view(self, name: str, body: str) -> None:
        """Have a view."""
        if self._views.get(name) != body:
            self.connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS {body}')
            self._views[name] = body

    def made(self, name: str, body: str, *, temporary: bool = False) -> None:
        """Have a table with the rows of a query."""
        if self._made.get(name) == body:
            self.run(f'DELETE FROM "{name}"')
            self.run(f'INSERT INTO "{name}" {body}')
            return
        kind = "TEMP TABLE" if temporary else "TABLE"
        self.connection.execute(f'CREATE OR REPLACE {kind} "{name}" AS {body}')
        self._made[name] = body

    def run(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a statement; from the second time on it is prepared."""
        if sql not in self._statements:
            self._statements[sql] = None
            return self.connection.execute(sql)
        return self.connection.execute(self._prepared(sql))

    def relation(self, sql: str) -> duckdb.DuckDBPyRelation:
        """Return what a prepared statement gives; a relation is bound twice, which costs nothing then."""
        return self.connection.sql(self._prepared(sql))

    def _prepared(self, sql: str) -> str:
        """Return the call of a statement that is prepared, from now on if it was not."""
        known = self._statements.pop(sql, None)
        if known is None:
            known = f"statement_{next(self._numbers)}"
            self.connection.execute(f"PREPARE {known} AS {sql}")
        self._statements[sql] = known
        if len(self._statements) > _KEPT_STATEMENTS:
            _, oldest = self._statements.popitem(last=False)
            if oldest:
                self.connection.execute(f"DEALLOCATE {oldest}")
        return f"EXECUTE {known}"


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
        if not self._store.broken:
            _Store.free.append(self._store)

    def make(self, table: str, body: str, *, temporary: bool = False) -> None:
        """Have a table with the rows of a query."""
        self._store.made(table, body, temporary=temporary)
        self._store.filled["main", table] = None

    def view(self, name: str, body: str) -> None:
        """Define a view."""
        self._store.view(name, body)

    def fill(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Set the rows of a table before the first refresh."""
        self.rows[table] = [tuple(row) for row in rows]
        self.replace_rows(table, self.rows[table], "after")
        for schema in ("main", "before"):
            self._copy_rows(table, "after", schema)

    def apply(self, batch: Batch) -> None:
        """Move every table from before to after by one batch of changes."""
        for table in self.tables:
            before, changes = self.rows[table], batch.get(table, ())
            after = _changed(before, changes)
            self.rows[table] = after
            self._copy_rows(table, "after", "before")
            self.replace_rows(table, after, "after")
            self._copy_rows(table, "after", "main")
            netted = [(*row, weight) for row, weight in net_changes(changes)]
            self.replace_rows(table, netted, "changes")

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and return its rows."""
        try:
            if values:
                return self._connection.execute(sql, list(values)).fetchall()
            return self._store.run(sql).fetchall()
        except duckdb.OutOfMemoryException:
            return self._optimised(sql, values)
        except (duckdb.InternalException, duckdb.FatalException):
            # A bug of DuckDB's, after which it answers nothing more.
            self._store.broken = True
            raise

    def arrow(self, sql: str) -> pa.Table:
        """Run a statement and return its rows as Arrow does, as they come from Spark."""
        return self._store.relation(sql).to_arrow_table()

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

    @property
    def column_types(self) -> list[str]:
        """Their types, as DuckDB has them."""
        return [str(column[1]) for column in self._connection.description or ()]

    def evaluate(self, plan: Plan) -> Bag:
        """Return the defining query's rows on the tables as they are now."""
        return bag_of(self.query(query_text(plan)))

    def replace_rows(self, table: str, rows: Sequence[Sequence[Any]], schema: str = "main") -> None:
        """Give a table other rows."""
        if self._store.holds(schema, table, rows):
            return
        self._store.empty(schema, table)
        if rows:
            self._store.filled[schema, table] = rows
            one = f"({', '.join('?' * len(rows[0]))})"
            values = [value for row in rows for value in row]
            if any(map(_holds_map, values)):
                found = self._connection.execute(f'SELECT * FROM "{schema}"."{table}" LIMIT 0')
                kinds = [str(column[1]) for column in found.description]
                values = [_bound(*pair) for row in rows for pair in zip(row, kinds, strict=True)]
            self._connection.execute(
                f'INSERT INTO "{schema}"."{table}" VALUES {", ".join([one] * len(rows))}', values
            )

    def _copy_rows(self, table: str, source: str, target: str) -> None:
        """Give a table of one schema the rows of that in another."""
        filled = self._store.filled
        rows = filled.get((source, table))
        if rows is not None and self._store.holds(target, table, rows):
            return
        self._store.empty(target, table)
        if (source, table) in filled:
            filled[target, table] = rows
            self._store.run(f'INSERT INTO "{target}"."{table}" FROM "{source}"."{table}"')


def _changed(before: list[Row], changes: Sequence[Change]) -> list[Row]:
    if not changes:
        return before
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


class SummedDeltas:
    """The bag that the deltas of all batches so far add up to, begun with the query's rows."""

    def __init__(self, plan: Plan, database: Database) -> None:
        self._plan = plan
        self._database = database
        self._sum = database.evaluate(plan)

    def follow(self) -> None:
        """Add the delta of the batch that was just applied."""
        delta = self._database.query(delta_text(self._plan))
        assert len(bag_of(row[:-1] for row in delta)) == len(delta), "the delta is not netted"
        assert all(row[-1] for row in delta), "the delta has rows of weight zero"
        self._sum = add(self._sum, delta)

    def check(self, full: Bag, number: int, batch: Batch) -> None:
        """Assert that the sum is what the defining query gives."""
        assert self._sum == full, (
            f"incremental differs from full after batch {number}\n"
            f"query: {self._plan.sql}\nbatch: {dict(batch)}\n"
            f"missing: { {r: w for r, w in full.items() if self._sum.get(r) != w} }\n"
            f"extra: { {r: w for r, w in self._sum.items() if full.get(r) != w} }"
        )


def check_history(plan: Plan, database: Database, batches: Iterable[Batch]) -> None:
    """Assert the law after every batch: what was there plus the delta is what full gives."""
    deltas = SummedDeltas(plan, database)
    for number, batch in enumerate(batches, start=1):
        database.apply(batch)
        deltas.follow()
        deltas.check(database.evaluate(plan), number, batch)
