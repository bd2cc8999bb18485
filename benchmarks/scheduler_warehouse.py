"""A warehouse of many stream tables that are all current, made without Spark and without rows.

The sources are real Delta tables of three rows.  The stream tables are definitions and standings
alone, written in one transaction: to a tick that finds nothing to do, nothing else is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from sqlalchemy import insert

from streamtables.api import StreamTables
from streamtables.catalog import Catalog
from streamtables.catalog.models import Column, Input, StreamTable, new_id, new_refresh_id
from streamtables.catalog.names import name_key
from streamtables.catalog.schema import dependencies, standings, stream_tables
from streamtables.positions import Frontier, InputId, Version

START = datetime(2030, 1, 1, tzinfo=UTC)
SCHEDULES = (
    "1 second",
    "10 seconds",
    "1 minute",
    "5 minutes",
    "15 minutes",
    "1 hour",
    "on change",
    "on change at most every 1 minute",
)
"""The schedules of the tables, in turn."""
SOURCES = 100
ON_TABLES = 5
"""One table in so many reads others, and not sources."""


@dataclass
class Clock:
    """A clock that the benchmark moves."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        """Let some time pass."""
        self.now += timedelta(seconds=seconds)


@dataclass
class Filling:
    """The rows of the catalog that are about to be written."""

    tables: list[StreamTable] = field(default_factory=list)
    roots: dict[InputId, frozenset[InputId]] = field(default_factory=dict)
    versions: Mapping[InputId, Version] = field(default_factory=dict)
    """Where sources stand; those that are not named are as they were made."""

    def add(
        self, inputs: Sequence[Input], schedule: str, options: Mapping[str, Any] | None = None
    ) -> None:
        """Add a table that lacks nothing."""
        number = len(self.tables)
        table = StreamTable(
            id=new_id(),
            name=f"area_{number % 10}.table_{number:05}",
            query=f"SELECT id FROM source_{number % SOURCES:03} WHERE id > {number}",
            defining_query_hash=f"hash-{number}",
            location=f"/nowhere/table_{number:05}",
            columns=(Column("id", "bigint"),),
            created_at=START,
            altered_at=START,
            schedule=schedule,
            inputs=tuple(inputs),
            options=dict(options or {}),
        )
        below = (self.roots.get(item.id, {item.id}) for item in inputs)
        self.roots[table.id] = frozenset(root for some in below for root in some)
        self.tables.append(table)


def make_source(path: Path, rows: int = 3) -> None:
    """Make a Delta table of a few rows, with its change feed on."""
    feed = {"delta.enableChangeDataFeed": "true"}
    ids = list(range(rows))
    values = pa.table({"id": ids, "grp": [n % 7 for n in ids], "amount": ids})
    write_deltalake(str(path), values, configuration=feed)


def append_row(path: Path, number: int) -> None:
    """Add one row, in a commit of its own."""
    values = pa.table({"id": [number], "grp": [number % 7], "amount": [1]})
    write_deltalake(str(path), values, mode="append")


def add_sources(db: StreamTables, folder: Path, count: int) -> list[InputId]:
    """Make some tables and register them as `source_000` and so on."""
    for number in range(count):
        path = folder / f"source_{number:03}"
        make_source(path)
        db.add_source(path.name, path=path)
    return [source.id for source in db.sources()]


def fill(db: StreamTables, folder: Path, tables: int, sources: int = SOURCES) -> None:
    """Define so many stream tables on some sources, all of them current."""
    below = add_sources(db, folder, min(sources, tables))
    random, filling = Random(tables), Filling()
    for number in range(tables):
        inputs = _sources(below, random)
        if number % ON_TABLES == ON_TABLES - 1:
            inputs = _tables(filling.tables, random)
        filling.add(inputs, SCHEDULES[number % len(SCHEDULES)])
    write(db._catalog, filling)


def write(catalog: Catalog, filling: Filling) -> None:
    """Write definitions, edges and standings in one transaction."""
    tables = filling.tables
    edges = [_edge(table, item) for table in tables for item in table.inputs]
    with catalog._changing() as (connection, _):
        connection.execute(insert(stream_tables), [_definition(table) for table in tables])
        connection.execute(insert(dependencies), edges)
        connection.execute(insert(standings), [_standing(filling, table) for table in tables])


def _sources(known: Sequence[InputId], random: Random) -> list[Input]:
    count = min(random.choice((1, 1, 2, 3)), len(known))
    return [Input(key, "source", ("id",)) for key in random.sample(known, count)]


def _tables(known: Sequence[StreamTable], random: Random) -> list[Input]:
    near = known[-50:]
    chosen = random.sample(near, min(random.choice((1, 2)), len(near)))
    return [Input(table.id, "stream-table", ("id",)) for table in chosen]


def _definition(table: StreamTable) -> dict[str, Any]:
    names = [column.name for column in stream_tables.columns if column.name != "name_key"]
    return {**{name: getattr(table, name) for name in names}, "name_key": name_key(table.name)}


def _edge(table: StreamTable, item: Input) -> dict[str, Any]:
    return {
        "stream_table_id": table.id,
        "input_id": item.id,
        "input_kind": item.kind,
        "columns_read": item.columns,
    }


def _standing(filling: Filling, table: StreamTable) -> dict[str, Any]:
    made = Version(0)
    roots = filling.roots[table.id]
    direct = {item.id: filling.versions.get(item.id, made) for item in table.inputs}
    return {
        "stream_table_id": table.id,
        "delta_version": 0,
        "sequence": 1,
        "refresh_id": new_refresh_id(),
        "frontier": Frontier(direct),
        "base_frontier": Frontier({root: filling.versions.get(root, made) for root in roots}),
        "query_hash": table.defining_query_hash,
        "updated_at": START,
    }
