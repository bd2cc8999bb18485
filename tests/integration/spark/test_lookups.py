"""Rows that changes name by a key, found without Spark: which, of what tables, and when not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamtables.api import StreamTables
from streamtables.engine.arrow_to_spark import from_arrow
from streamtables.engine.session import SparkSessions
from streamtables.refresh.looked_up import FIND
from tests.support.delta_tables import DeltaTableFile
from tests.support.moved_clock import Clock
from tests.support.settings import settings_with
from tests.support.spark_oracle import refreshed

KINDS = {
    "plain": "delta.enableDeletionVectors = false",
    "vectors": "delta.enableDeletionVectors = true",
    "mapped": "delta.columnMapping.mode = 'name'",
}
TYPES = {
    "bigint": ("1", "2"),
    "tinyint": ("CAST(1 AS TINYINT)", "CAST(2 AS TINYINT)"),
    "string": ("'a'", "'A'"),
    "varchar(9)": ("'a '", "'a'"),
    "decimal(12,2)": ("1.50", "-1.50"),
    "date": ("DATE'2024-02-29'", "DATE'1582-10-04'"),
    "timestamp": ("TIMESTAMP'2024-02-29 12:00:00.000001'", "TIMESTAMP'1900-01-01 00:00:00'"),
    "timestamp_ntz": ("TIMESTAMP_NTZ'2024-02-29 12:00:00'", "TIMESTAMP_NTZ'1969-12-31 23:59:59'"),
    "boolean": ("true", "false"),
    "binary": ("X'00FF'", "X''"),
}
NOT_LOOKED_UP = {
    "double": ("CAST(0.0 AS DOUBLE)", "CAST('-0.0' AS DOUBLE)"),
}


@pytest.fixture
def spark(spark_sessions: SparkSessions) -> Iterator[Any]:
    with spark_sessions.lease("quick") as session:
        yield session


def found(db: StreamTables, name: str) -> dict[str, Any] | None:
    steps = [step for step in db.history(name)[0].steps if step.name == FIND]
    return dict(steps[0].facts) if steps else None


def add(db: StreamTables, spark: Any, folder: Path, name: str, columns: str, kind: str) -> str:
    """Make a table with its change feed on; return how Spark calls it."""
    table = f"delta.`{folder / name}`"
    properties = f"delta.enableChangeDataFeed = true, {KINDS[kind]}"
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO {table} VALUES (0, NULL)")
    db.add_source(name, path=folder / name, key="id")
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_were_deleted_before_are_not_found(
    db: StreamTables, spark: Any, tmp_path: Path, kind: str
) -> None:
    orders = add(db, spark, tmp_path, "orders", "id BIGINT, customer BIGINT", kind)
    names = add(db, spark, tmp_path, "names", "id BIGINT, name STRING", kind)
    spark.sql(f"INSERT INTO {orders} SELECT id, id % 10 FROM range(1, 200)")
    spark.sql(f"INSERT INTO {names} SELECT id, concat('n', id) FROM range(1, 12)")
    spark.sql(f"DELETE FROM {orders} WHERE id % 7 = 0")
    db.create(
        "t",
        "SELECT o.id, n.name FROM orders o LEFT JOIN names n ON o.customer = n.id",
        mode="differential",
    )
    db.create(
        "top",
        "SELECT id, customer FROM orders QUALIFY rank() OVER "
        "(PARTITION BY customer ORDER BY id DESC) <= 2",
        mode="differential",
    )
    for name in ("t", "top"):
        refreshed(db, name)
    for statement in (
        f"DELETE FROM {orders} WHERE id IN (11, 199, 198)",
        f"UPDATE {names} SET name = 'changed' WHERE id IN (1, 3)",
        f"DELETE FROM {orders} WHERE id = 21",
        f"INSERT INTO {orders} VALUES (300, 4), (301, NULL)",
    ):
        spark.sql(statement)
        for name in ("t", "top"):
            assert refreshed(db, name).mode in ("differential", "no-change")
    steps = [step for item in db.history("t") for step in item.steps if step.name == FIND]
    # Changes of a table whose columns have other names in its files are Spark's to read.
    assert {"declined" in step.facts for step in steps} == (set() if kind == "mapped" else {False})


@pytest.mark.parametrize("type_", [*TYPES, *NOT_LOOKED_UP])
def test_keys_of_every_type(db: StreamTables, spark: Any, tmp_path: Path, type_: str) -> None:
    one, other = (TYPES | NOT_LOOKED_UP)[type_]
    left = add(db, spark, tmp_path, "l", f"id BIGINT, k {type_}", "plain")
    right = add(db, spark, tmp_path, "r", f"id BIGINT, k {type_}", "plain")
    for table in (left, right):
        spark.sql(f"INSERT INTO {table} VALUES (1, {one}), (2, {other}), (3, {one}), (4, NULL)")
    db.create(
        "t", "SELECT l.id, r.id AS other FROM l LEFT JOIN r ON l.k <=> r.k", mode="differential"
    )
    db.create("g", "SELECT k, median(id) AS middle FROM l GROUP BY k", mode="differential")
    for name in ("t", "g"):
        refreshed(db, name)
    for statement in (
        f"DELETE FROM {right} WHERE id = 3",
        f"INSERT INTO {left} VALUES (5, {other}), (6, NULL)",
        f"UPDATE {right} SET k = NULL WHERE id = 1",
        f"UPDATE {left} SET k = {one} WHERE id IN (0, 2)",
    ):
        spark.sql(statement)
        for name in ("t", "g"):
            refreshed(db, name)
    facts = found(db, "g")
    assert (facts is not None and "declined" not in facts) == (type_ in TYPES)


def numbers(
    db: StreamTables, folder: Path, mode: str = "differential"
) -> tuple[DeltaTableFile, DeltaTableFile]:
    columns = {"id": "bigint", "g": "bigint"}
    rows = [(number, number % 5) for number in range(100)]
    tables = tuple(DeltaTableFile(folder / name, columns, rows) for name in ("a", "b"))
    for name in ("a", "b"):
        db.add_source(name, path=folder / name, key="id")
    db.create("t", "SELECT a.id, b.g FROM a JOIN b ON a.g = b.id", mode=mode)
    refreshed(db, "t")
    return tables  # type: ignore[return-value]


def test_what_was_found_is_recorded(db: StreamTables, tmp_path: Path) -> None:
    first, _ = numbers(db, tmp_path)
    first.update("id = 3", g="70")
    refreshed(db, "t")
    assert found(db, "t") == {"hand": "deltalake", "rows": 2, "lookups": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"driver_rows_max": 3}, "the keys cover more than 30 stored rows"),
        ({"lookup_bytes_max": 10}, "bytes would have to be read to find the rows"),
        ({"lookup_bytes_max": 0}, None),
    ],
    ids=["rows", "bytes", "off"],
)
def test_too_much_is_left_to_spark_with_the_reason(
    tmp_path: Path, spark_sessions: SparkSessions, change: dict[str, int], reason: str | None
) -> None:
    settings = settings_with(**change)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        _, second = numbers(db, tmp_path)
        second.update("id IN (1, 2)", g="70")
        refreshed(db, "t")
        facts = found(db, "t")
        if reason is None:
            assert facts is None
            return
        assert facts is not None
        assert reason in facts["declined"]
        # About the same again is not tried, a change of half the size is.
        second.update("id IN (1, 2)", g="71")
        refreshed(db, "t")
        assert "not tried" in (found(db, "t") or {})["declined"]
        second.update("id = 2", g="72")
        refreshed(db, "t")
        again = found(db, "t")
        assert again is not None
        assert "not tried" not in again.get("declined", "")


CONDITIONS = {
    "n <= 4": 3,
    "2.5 < n AND n < 6": 4,
    "s = 'a'": 4,
    "s IN ('a', 'b') AND n > 1": 6,
    "d >= DATE '2024-03-01' - INTERVAL '2' DAY": 6,
    "c BETWEEN 0.05 AND 0.30": 5,
    "s <> 'a'": 6,
}
"""Conditions, and how many of the six rows with the changed key are found."""


def test_rows_that_fail_plain_conditions_are_not_found(
    db: StreamTables, spark: Any, tmp_path: Path
) -> None:
    keys = add(db, spark, tmp_path, "keys", "id BIGINT, k BIGINT", "plain")
    spark.sql(f"INSERT INTO {keys} VALUES (1, 7), (2, 8)")
    facts = f"delta.`{tmp_path / 'facts'}`"
    spark.sql(
        f"CREATE TABLE {facts} (id INT, k BIGINT, n INT, s STRING, d DATE, c DECIMAL(10, 2)) "
        "USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(
        f"INSERT INTO {facts} SELECT id, 7, id, substr('ab', 1 + id % 2, 1), "
        "date_add(DATE'2024-02-26', id), id * 0.05 FROM (SELECT CAST(id AS INT) AS id "
        "FROM range(1, 8))"
    )
    spark.sql(f"INSERT INTO {facts} VALUES (9, 8, NULL, NULL, NULL, NULL)")
    db.add_source("facts", path=tmp_path / "facts", key="id")
    names = {f"t{number}": condition for number, condition in enumerate(CONDITIONS)}
    for name, condition in names.items():
        query = (
            f"SELECT x.id AS key_id, f.* FROM keys x JOIN facts f ON x.k = f.k WHERE {condition}"
        )
        db.create(name, query, mode="differential")
        refreshed(db, name)
    spark.sql(f"UPDATE {keys} SET k = 7 WHERE id = 2")
    spark.sql(f"UPDATE {facts} SET n = n + 1, s = 'a', c = c + 0.05 WHERE id IN (2, 3)")
    spark.sql(f"DELETE FROM {facts} WHERE id = 1")
    for name in names:
        refreshed(db, name)
    spark.sql(f"UPDATE {keys} SET k = 9 WHERE id = 1")
    counted = {}
    for name, condition in names.items():
        refreshed(db, name)
        counted[condition] = (found(db, name) or {})["rows"]
    assert counted == CONDITIONS


def test_a_change_that_names_too_much_is_chosen_again(
    tmp_path: Path, spark_sessions: SparkSessions
) -> None:
    settings = settings_with(driver_rows_max=3, choose_from_seconds=0.0)
    clock = Clock()
    spark = spark_sessions.get()
    with StreamTables(tmp_path / "w", spark=spark, settings=settings, clock=clock) as db:
        _, second = numbers(db, tmp_path, mode="auto")
        for value in ("70", "71"):
            # Past the first minute, and so that the records have an order.
            clock.forward(61)
            second.update("id IN (1, 2)", g=value)
            done = refreshed(db, "t")
            # The first of them tried to look rows up, the second knew better.
            assert (found(db, "t") is not None) == (value == "70")
            assert (done.mode, done.reason.code) == ("full", "full-was-faster")


def test_rows_after_an_empty_piece_arrive_in_spark(spark: Any) -> None:
    pieces = [[], [1, 2], [], [3]]
    rows = pa.table({"n": pa.chunked_array([pa.array(piece, pa.int64()) for piece in pieces])})
    assert sorted(row.n for row in from_arrow(spark, rows).collect()) == [1, 2, 3]
