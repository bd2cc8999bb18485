"""Large changes that only bring rows: Spark appends, and reads nothing of what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import DuplicateKeyError
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, Shop, open_shop
from tests.support.spark_oracle import refreshed

GROWING = {name: QUERIES[name] for name in ("join", "bag")} | {
    "self-join": "SELECT a.id, b.id AS other FROM orders a JOIN orders b ON a.customer = b.customer",
}
ANTI_JOIN = "SELECT id FROM customers LEFT ANTI JOIN orders ON customer = customers.id"


@pytest.fixture
def through_spark(spark_sessions: SparkSessions, tmp_path: Path) -> Iterator[StreamTables]:
    settings = settings_with(driver_rows_max=0, full_threshold=1.0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        yield db


def insert(shop: Shop) -> None:
    """Bring equal rows, and rows of both tables that meet each other."""
    shop.orders.append((5, 40, "8.00", "e"), (6, 20, "8.00", "f"), (7, 20, "8.00", "f"))
    shop.customers.append((40, "east"))


@pytest.mark.parametrize("query", GROWING.values(), ids=GROWING)
def test_rows_that_only_came_are_appended(
    through_spark: StreamTables, tmp_path: Path, query: str
) -> None:
    db, shop = through_spark, open_shop(through_spark, tmp_path)
    db.create("t", query, mode="differential")
    db.create("reader", "SELECT count(*) AS n FROM t", mode="differential")
    db.refresh_all()
    insert(shop)
    result = refreshed(db, "t")
    assert (result.strategy, result.rows_deleted) == ("append", 0)
    assert result.rows_inserted
    refreshed(db, "reader")
    shop.orders.delete("id = 6")
    assert refreshed(db, "t").strategy == "merge"


def test_a_query_that_can_lose_rows_is_merged(through_spark: StreamTables, tmp_path: Path) -> None:
    db, shop = through_spark, open_shop(through_spark, tmp_path)
    db.create("t", ANTI_JOIN, mode="differential")
    db.refresh("t")
    insert(shop)
    assert refreshed(db, "t").strategy == "merge"


def test_a_row_that_comes_and_goes_between_refreshes_is_merged(
    through_spark: StreamTables, tmp_path: Path
) -> None:
    db, shop = through_spark, open_shop(through_spark, tmp_path)
    db.create("t", QUERIES["filter"], mode="differential")
    db.refresh("t")
    insert(shop)
    shop.orders.update("id = 5", amount="CAST(9.00 AS DECIMAL(12,2))")
    assert refreshed(db, "t").strategy == "merge"


def test_a_key_that_comes_twice_is_refused_before_any_commit(
    through_spark: StreamTables, tmp_path: Path
) -> None:
    db, shop = through_spark, open_shop(through_spark, tmp_path)
    db.create("t", QUERIES["filter"], mode="differential")
    before = db.refresh("t").version
    shop.orders.append((9, 40, "8.00", "e"), (9, 40, "9.00", "f"))
    with pytest.raises(DuplicateKeyError):
        db.refresh("t")
    assert db.status()[0].version == before
