"""Stream tables read by others: each program that reads Delta finds the rows that Spark finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.bags import bag_of
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with
from tests.support.spark_oracle import assert_equal_to_query

START = [(n, f"item {n % 5}", n / 4) for n in range(40)]
TABLES = {
    "chosen": "SELECT id, name, price FROM t WHERE price > 2",
    "groups": "SELECT name, count(*) AS n, sum(id) AS ids FROM t GROUP BY name",
    "names": "SELECT name FROM t",
}
"""One with a key that rows keep, one of groups, and one in which rows repeat."""


def _by_deltalake(location: str) -> pa.Table:
    return DeltaTable(location).to_pyarrow_table()


def _by_polars(location: str) -> pa.Table:
    return polars.scan_delta(location).collect().to_arrow()


def _by_duckdb(location: str) -> pa.Table:
    found = DeltaTable(location).to_pyarrow_dataset()
    return duckdb.from_arrow(found).to_arrow_table()


READERS: dict[str, Callable[[str], pa.Table]] = {
    "deltalake": _by_deltalake,
    "polars": _by_polars,
    "duckdb": _by_duckdb,
}


def _seen(read: Callable[[str], pa.Table], location: str) -> pa.Table:
    rows = read(location)
    return rows.select([name for name in rows.column_names if not name.startswith("__st_")])


@pytest.mark.parametrize("rows_max", [10_000, 0], ids=["small hand", "spark"])
def test_others_find_the_same_rows(
    rows_max: int, spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    source = DeltaTableFile(
        tmp_path / "t", {"id": "bigint", "name": "string", "price": "double"}, START
    )
    settings = settings_with(driver_rows_max=rows_max, full_threshold=1.0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        db.add_source("t", path=tmp_path / "t", key="id")
        for name, query in TABLES.items():
            db.create(name, query)
        db.refresh_all()
        source.append((50, "item 1", 30.0), (51, "item 9", 31.0))
        _assert_all_find_the_same(db)
        source.update("id < 15", price="price + 1", name="'item 2'")
        source.delete("id % 3 = 0")
        _assert_all_find_the_same(db)


def _assert_all_find_the_same(db: StreamTables) -> None:
    for table in db.stream_tables():
        db.refresh(table.name)
        expected = assert_equal_to_query(db, table.name)
        for program, read in READERS.items():
            found = _seen(read, table.location).to_pylist()
            assert bag_of(tuple(row.values()) for row in found) == expected, program
