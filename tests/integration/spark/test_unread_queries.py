"""Queries that only Spark can read, kept by full refreshes."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import SqlSyntaxError
from tests.support.delta_tables import DeltaTableFile

SHIFTED = "SELECT id, id >>> 1 AS half FROM orders"
DEEP = (
    "WITH RECURSIVE n(i) MAX RECURSION LEVEL 9 AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) "
    "SELECT i, amount FROM n JOIN orders AS o ON o.id = n.i"
)


@pytest.fixture
def orders(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    table = DeltaTableFile(tmp_path / "orders", {"id": "int", "amount": "int"}, [(1, 2), (4, 9)])
    db.add_source("orders", path=table.path, key=["id"])
    return table


def rows(db: StreamTables, name: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in db.read_rows(name).to_pylist())


def test_such_a_query_is_kept_by_full_refreshes_and_says_why(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    db.create("shifted", SHIFTED, mode="full")
    db.create("deep", DEEP)
    db.refresh_all()
    assert rows(db, "shifted") == [(1, 0), (4, 2)]
    assert rows(db, "deep") == [(1, 2), (4, 9)]

    orders.delete("id = 1")
    orders.append((3, 5))
    done = {item.table: item for item in db.refresh_all()}
    assert rows(db, "shifted") == [(3, 1), (4, 2)]
    assert rows(db, "deep") == [(3, 5), (4, 9)]
    assert done["deep"].mode == "full"
    assert done["deep"].reason.code == "not-incremental"
    assert "cannot read" in str(db.explain("deep"))
    assert db.verify("deep").equal


def test_what_spark_cannot_read_either_stays_an_error(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    for query in (
        "SELECT id, FROM orders",
        "SELECT id >>> FROM orders",
        "SELECT x >>> 1 FROM orders",
    ):
        with pytest.raises(SqlSyntaxError):
            db.create("wrong", query, mode="full")
    with pytest.raises(SqlSyntaxError):
        db.create("wrong", SHIFTED, mode="differential")


def test_a_table_may_be_altered_to_such_a_query(db: StreamTables, orders: DeltaTableFile) -> None:
    db.create("halves", "SELECT id, id AS half FROM orders")
    db.refresh("halves")
    db.alter("halves", query=SHIFTED)
    db.refresh("halves")
    assert rows(db, "halves") == [(1, 0), (4, 2)]
