"""Stream tables end to end: SQL in, kept equal to the query, through the public API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.errors import (
    FullForbiddenError,
    NotIncrementalError,
    UnimplementedSqlError,
    WouldMixError,
)
from streamtables.refresh import one
from tests.support.bags import bag_of
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, REVENUE, Shop, change, open_shop
from tests.support.spark_oracle import assert_equal_to_query, refreshed, stored_bag


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_small_changes_keep_the_table_equal_to_its_query(
    db: StreamTables, shop: Shop, query: str
) -> None:
    db.create("t", query)
    assert refreshed(db, "t").mode == "full"
    change(shop)
    result = refreshed(db, "t")
    assert (result.mode, result.outcome) == ("differential", "applied")
    shop.orders.delete("id > 0")
    assert refreshed(db, "t").mode in ("differential", "no-change")
    shop.orders.append((1, 10, "5.00", "a"), (8, 10, "5.00", "a2"))
    refreshed(db, "t")


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_same_through_spark_alone(spark_sessions, tmp_path: Path, query: str) -> None:
    settings = settings_with(driver_rows_max=0, full_threshold=1.0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("t", query, mode="differential")
        assert refreshed(db, "t").mode == "full"
        change(shop)
        result = refreshed(db, "t")
        assert (result.mode, result.outcome) == ("differential", "applied")
        assert result.strategy == "merge"


def test_nothing_changed_means_no_spark_and_no_commit(db: StreamTables, shop: Shop) -> None:
    db.create("t", REVENUE)
    first = db.refresh("t")
    again = db.refresh("t")
    assert (again.mode, again.outcome, again.version) == ("no-change", "no-change", first.version)


def test_a_change_of_unread_columns_moves_the_frontier_without_a_commit(
    db: StreamTables, shop: Shop
) -> None:
    db.create("t", REVENUE)
    first = db.refresh("t")
    shop.orders.update("id = 1", note="'other'")
    again = refreshed(db, "t")
    assert (again.mode, again.reason.code) == ("no-change", "no-effect")
    assert again.version == first.version
    assert again.frontier != first.frontier
    assert db.refresh("t").reason.code == "current"


def test_a_table_on_a_table_on_a_table_follows_in_one_round(db: StreamTables, shop: Shop) -> None:
    db.create("revenue", REVENUE)
    db.create("rich", "SELECT region, total FROM revenue WHERE total > 2")
    db.create("how_many", "SELECT count(*) AS n FROM rich")
    db.refresh("how_many")
    change(shop)
    results = db.refresh_all()
    assert [r.outcome for r in results] == ["applied"] * 3
    for name in ("revenue", "rich", "how_many"):
        assert_equal_to_query(db, name)


def test_a_diamond_reads_one_moment(db: StreamTables, shop: Shop) -> None:
    db.create("left_side", "SELECT customer, count(*) AS n FROM orders GROUP BY customer")
    db.create("right_side", "SELECT customer, sum(amount) AS s FROM orders GROUP BY customer")
    db.create(
        "both",
        "SELECT l.customer, n, s FROM left_side l JOIN right_side r ON l.customer <=> r.customer",
    )
    db.refresh("both")
    change(shop)
    before = stored_bag(db, "left_side")
    db.refresh("left_side")
    # Together they are read as they were when they last agreed.
    together = db.read(["left_side", "right_side"])
    assert bag_of([tuple(row) for row in together["left_side"].collect()]) == before
    assert stored_bag(db, "left_side") != before
    with pytest.raises(WouldMixError):
        db.refresh("both", upstream=False)
    assert db.refresh("both").outcome == "applied"
    assert_equal_to_query(db, "both")
    assert set(db.read(["left_side", "right_side", "both"])) == {"left_side", "right_side", "both"}


def test_a_full_refresh_upstream_shows_readers_only_what_changed(
    db: StreamTables, shop: Shop
) -> None:
    db.create("revenue", REVENUE)
    db.create("rich", "SELECT region, total FROM revenue WHERE total > 2")
    db.refresh("rich")
    shop.orders.append((7, 10, "1.00", "g"))
    assert db.refresh("revenue", full=True).mode == "full"
    result = refreshed(db, "rich")
    assert (result.mode, result.rows_inserted, result.rows_deleted) == ("differential", 1, 1)


def test_a_query_without_a_plan_is_kept_by_full_refreshes_and_says_so(
    db: StreamTables, shop: Shop
) -> None:
    query = (
        "SELECT id, size(collect_list(amount) OVER (ORDER BY customer RANGE 1 PRECEDING)) AS n "
        "FROM orders"
    )
    with pytest.raises(UnimplementedSqlError, match="share an order"):
        db.create("t", query, mode="differential")
    db.create("t", query)
    refreshed(db, "t")
    change(shop)
    result = refreshed(db, "t")
    assert (result.mode, result.reason.code) == ("full", "not-incremental")


def test_forbidding_full_refreshes_never_blocks_the_first_fill(
    db: StreamTables, shop: Shop
) -> None:
    db.create("t", "SELECT approx_percentile(id, 0.5) AS p FROM orders", full="forbid")
    assert db.refresh("t").mode == "full"
    shop.orders.append((0, 10, "1.00", "z"))
    with pytest.raises(FullForbiddenError):
        db.refresh("t")
    assert db.refresh("t", full=True).mode == "full"


def test_a_random_query_is_refused_for_differential(db: StreamTables, shop: Shop) -> None:
    with pytest.raises(NotIncrementalError):
        db.create("t", "SELECT rand() AS r FROM orders", mode="differential")


def test_an_altered_query_is_rebuilt_with_its_reason(db: StreamTables, shop: Shop) -> None:
    db.create("t", "SELECT customer, count(*) AS n FROM orders GROUP BY customer")
    db.refresh("t")
    db.alter("t", query="SELECT customer, sum(amount) AS s FROM orders GROUP BY customer")
    result = refreshed(db, "t")
    assert (result.mode, result.reason.code) == ("full", "query-changed")
    change(shop)
    assert refreshed(db, "t").mode == "differential"


@pytest.mark.parametrize("digits", ["decimal(5,2)", "decimal(10,2)", "decimal(38,18)"])
def test_sums_of_narrow_and_wide_decimals_are_kept_by_state(
    db: StreamTables, tmp_path: Path, digits: str
) -> None:
    table = DeltaTableFile(tmp_path / "d", {"g": "int", "x": digits}, [(1, "1.50"), (2, "2.25")])
    db.add_source("d", path=table.path)
    db.create("t", "SELECT g, sum(x) AS s, avg(x) AS a, count(x) AS n FROM d GROUP BY g")
    refreshed(db, "t")
    table.append((1, "-1.50"), (1, None), (3, None))
    result = refreshed(db, "t")
    assert (result.mode, result.notes) == ("differential", ())


def test_hidden_columns_are_never_shown(db: StreamTables, shop: Shop) -> None:
    db.create("t", REVENUE)
    db.refresh("t")
    assert db.read("t").columns == ["region", "total", "orders", "mean"]
    assert db.read_rows("t", 2).column_names == ["region", "total", "orders", "mean"]


def test_statements_do_the_same_as_methods(db: StreamTables, shop: Shop) -> None:
    sql: Callable[[str], Any] = db.sql
    sql("CREATE STREAM TABLE t MODE DIFFERENTIAL AS SELECT id, amount FROM orders")
    assert sql("REFRESH STREAM TABLE t").mode == "full"
    assert_equal_to_query(db, "t")
    sql("ALTER STREAM TABLE t PAUSE")
    assert [item.state for item in sql("SHOW STREAM TABLES")] == ["paused"]
    sql("ALTER STREAM TABLE t RESUME")
    assert "orders" in sql("EXPLAIN STREAM TABLE t").text
    sql("DROP STREAM TABLE t")
    assert db.status() == []


def test_names_with_letters_of_any_language_are_stored(db: StreamTables, tmp_path: Path) -> None:
    table = DeltaTableFile(tmp_path / "t", {"id": "int", "größe": "int"}, [(1, 5), (2, 7)])
    db.add_source("t", path=table.path, key="id")
    db.create("s", "SELECT `größe` AS `länge_µ`, count(*) AS n FROM t GROUP BY `größe`")
    refreshed(db, "s")
    table.append((3, 5))
    assert refreshed(db, "s").mode == "differential"
    assert sorted(map(tuple, db.read("s").collect())) == [(5, 2), (7, 1)]


def test_programs_that_cannot_be_prepared_do_not_end_a_round(
    db: StreamTables, shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr(one, "prepare_changes", broken)
    for name in ("first", "second"):
        db.create(name, "SELECT id, amount FROM orders")
    assert [(item.mode, item.outcome) for item in db.refresh_all()] == [("full", "applied")] * 2
    assert "programs of the next refresh not prepared" in caplog.text
    shop.orders.delete("id = 1")
    assert refreshed(db, "first").mode == "differential"
