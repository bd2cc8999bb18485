"""Altered queries on Spark: rows that stay are left alone, readers go on, identity is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import NotFilledError, QueryFailedError, WouldMixError
from tests.support.delta_tables import DeltaTableFile
from tests.support.killed_child import killed_child
from tests.support.spark_oracle import assert_equal_to_query, refreshed

BASE = "SELECT id, a FROM orders WHERE a > 1"
COLUMNS = {"id": "bigint", "a": "int", "b": "string"}
READERS = {
    "star": "SELECT * FROM base",
    "sums": "SELECT a, count(*) AS n FROM base GROUP BY a",
}


@pytest.fixture
def orders(tmp_path: Path) -> DeltaTableFile:
    rows = [(number, number % 5, "x" if number % 2 else "y") for number in range(40)]
    return DeltaTableFile(tmp_path / "orders", COLUMNS, rows)


def filled(db: StreamTables, orders: DeltaTableFile) -> None:
    db.add_source("orders", path=orders.path, key=["id"])
    db.create("base", BASE)
    for name, query in READERS.items():
        db.create(name, query)
    assert {result.mode for result in db.refresh_all()} == {"full"}


def delta_table(db: StreamTables, name: str) -> DeltaTable:
    return DeltaTable(db._catalog.stream_table(name).location)


def all_equal(db: StreamTables) -> None:
    for table in db.stream_tables():
        assert table.state == "active", (table.name, table.state_reason)
        assert_equal_to_query(db, table.name)


def test_every_kind_of_alter_keeps_identity_and_brings_readers_along(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    filled(db, orders)
    made = {name: delta_table(db, name).metadata().id for name in ("base", *READERS)}

    db.alter("base", query="select o.id, o.a -- the same\nfrom orders o where (o.a > 1)")
    assert [r.reason.code for r in db.refresh_all()] == ["current"] * 3
    assert {delta_table(db, name).version() for name in made} == {0}

    db.alter("base", query=BASE.replace("> 1", "> 0"))
    result = db.refresh("base")
    assert (result.mode, result.reason.code, result.strategy) == ("full", "query-changed", "merge")
    assert (result.rows_inserted, result.rows_deleted) == (8, 0)
    db.refresh_all()
    all_equal(db)

    steps = {
        "adds": "SELECT id, a, b FROM orders WHERE a > 0",
        "removes": "SELECT id, a FROM orders WHERE a > 0",
        "retypes": "SELECT id, CAST(a AS BIGINT) AS a FROM orders WHERE a > 0",
    }
    for number, (step, query) in enumerate(steps.items()):
        old_columns = db.read("base").columns
        db.alter("base", query=query)
        assert db.read("base").columns == old_columns, step
        results = {result.table: result for result in db.refresh_all()}
        assert results["star"].reason.text == '"base", which it reads, was altered', step
        # Delta shows changes across a column that came.
        assert step != "adds" or results["sums"].mode != "full"
        assert all(db.verify(name).equal for name in made), step
        assert db.read("star").columns == db.read("base").columns, step
        orders.append((100 + number, 3, "new"))
        orders.delete(f"id = {number + 10}")
        assert {result.outcome for result in db.refresh_all()} == {"applied"}, step
        all_equal(db)
    assert made == {name: delta_table(db, name).metadata().id for name in made}
    versions = sorted(entry["version"] for entry in delta_table(db, "base").history())
    assert versions == list(range(versions[-1] + 1))


def test_readers_of_other_columns_have_nothing_to_write(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    db.add_source("orders", path=orders.path, key=["id"])
    db.create("base", "SELECT id, a, b FROM orders")
    db.create("sums", READERS["sums"])
    db.refresh_all()
    db.alter("base", query="SELECT id, a FROM orders")
    with pytest.raises(WouldMixError) as held:
        db.refresh("sums", upstream=False)
    assert '"base" was altered and is not refreshed yet' in held.value.detail
    with pytest.raises(NotFilledError, match='altered query of stream table "base"'):
        db.verify("sums")
    results = {result.table: result for result in db.refresh_all()}
    assert results["base"].strategy == "overwrite"
    assert results["sums"].outcome == "no-change"
    assert delta_table(db, "sums").version() == 0
    orders.append((100, 3, "new"))
    db.refresh_all()
    all_equal(db)


def test_an_altered_query_with_the_same_rows_commits_nothing(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    filled(db, orders)
    db.alter("base", query="SELECT id, a FROM orders WHERE a >= 2")
    result = db.refresh("base")
    assert (result.outcome, result.reason.code) == ("no-change", "same-rows")
    assert delta_table(db, "base").version() == 0
    assert db.refresh("base").reason.code == "current"
    orders.append((100, 3, "new"))
    assert refreshed(db, "base").mode == "differential"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT a, max(id) AS m FROM orders GROUP BY a", "SELECT a, id AS m FROM orders"),
        ("SELECT a, id AS m FROM orders", "SELECT a, max(id) AS m FROM orders GROUP BY a"),
        ("SELECT b FROM orders", "SELECT b FROM orders WHERE a > 2"),
        ("SELECT DISTINCT b FROM orders", "SELECT b FROM orders"),
    ],
    ids=["another key", "a narrower key", "a bag", "a key to a bag"],
)
def test_rows_told_apart_in_another_way(
    db: StreamTables, orders: DeltaTableFile, old: str, new: str
) -> None:
    db.add_source("orders", path=orders.path, key=["id"])
    db.create("t", old)
    refreshed(db, "t")
    db.alter("t", query=new)
    assert refreshed(db, "t").mode == "full"
    orders.append((100, 3, "x"), (101, 4, "z"))
    orders.delete("id = 7")
    assert refreshed(db, "t").mode == "differential"


def test_a_query_that_fails_leaves_the_old_rows_and_a_way_back(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    filled(db, orders)
    before = sorted(map(tuple, db.read("base").collect()))
    db.alter("base", query="SELECT id, 1 DIV (a - 3) AS a, b FROM orders")
    with pytest.raises(QueryFailedError):
        db.refresh("base")
    assert sorted(map(tuple, db.read("base").collect())) == before
    db.alter("base", query=BASE)
    orders.append((100, 3, "new"))
    assert refreshed(db, "base").mode == "differential"
    db.refresh_all()
    all_equal(db)


CHILD = """
import sys
from streamtables.api import StreamTables
with StreamTables(sys.argv[1]) as db:
    db.alter("base", query="SELECT id, b FROM orders WHERE a > 0")
    db.refresh_all()
"""


@pytest.mark.crash
@pytest.mark.parametrize("boundary", ["columns-freed", "columns-replaced", "committed"])
def test_a_kill_while_an_altered_table_is_rebuilt_leaves_whole_rows(
    spark_sessions: SparkSessions, orders: DeltaTableFile, tmp_path: Path, boundary: str
) -> None:
    def opened() -> StreamTables:
        return StreamTables(tmp_path / "warehouse", spark=spark_sessions.get())

    with opened() as db:
        db.add_source("orders", path=orders.path, key=["id"])
        db.create("base", BASE)
        db.create("star", READERS["star"])
        db.refresh_all()
        old = sorted(map(tuple, db.read("base").collect()))
    killed_child(CHILD, tmp_path / "warehouse", boundary)
    with opened() as db:
        found = db.read("base")
        swapped = boundary in ("columns-replaced", "committed")
        if not swapped:
            assert found.columns == ["id", "a"]
            assert sorted(map(tuple, found.collect())) == old
        db.refresh_all()
        all_equal(db)
        assert db.read("star").columns == ["id", "b"]
        orders.append((100, 3, "new"))
        db.refresh_all()
        all_equal(db)
