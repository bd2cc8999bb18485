"""Past the limits of programs Spark gives the same rows, from old versions and split statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.settings import settings_with
from tests.support.shop import Shop, change, open_shop
from tests.support.spark_oracle import refreshed

JOINED = """SELECT a.id, b.region, c.id AS other FROM orders a
JOIN customers b ON a.customer = b.id JOIN customers c ON b.region = c.region"""
COUNTED = f"SELECT region, count(*) AS n, max(id) AS last FROM ({JOINED}) GROUP BY region"


READ: dict[str, int] = {"driver_rows_max": 10_000, "lookup_bytes_max": 0}
"""Small changes, while Spark reads the tables."""


@pytest.fixture(
    params=[{"driver_rows_max": 10_000}, READ, {"driver_rows_max": 0}],
    ids=["looked up", "small", "through Spark"],
)
def narrow(
    request: pytest.FixtureRequest, spark_sessions: SparkSessions, tmp_path: Path
) -> Iterator[StreamTables]:
    settings = settings_with(deep_join_l0_scan_threshold=1, part3_max_scan_count=1, **request.param)
    spark = spark_sessions.get()
    with StreamTables(tmp_path / "warehouse", spark=spark, settings=settings) as opened:
        yield opened


@pytest.mark.parametrize("query", [JOINED, COUNTED], ids=["rows", "groups"])
def test_the_table_follows_its_query(narrow: StreamTables, tmp_path: Path, query: str) -> None:
    shop: Shop = open_shop(narrow, tmp_path)
    narrow.create("t", query, mode="differential")
    refreshed(narrow, "t")
    change(shop)
    result = refreshed(narrow, "t")
    assert (result.mode, result.outcome) == ("differential", "applied")
    shop.customers.append((40, "north"))
    shop.orders.append((7, 40, "1.00", "g"))
    assert refreshed(narrow, "t").mode == "differential"
    found = narrow.explain("t")
    assert "choice     differential" in found.text
    assert "deep_join_l0_scan_threshold  3 of 1" in found.text
    assert "last refresh: +" in found.svg


def without_old_files(db: StreamTables, folder: Path) -> Shop:
    """Return a shop of which a stream table follows a change, without the files of before it."""
    shop = open_shop(db, folder)
    db.create("t", JOINED)
    refreshed(db, "t")
    old = list(Path(shop.customers.path).glob("*.parquet"))
    change(shop)
    for file in old:
        file.unlink()
    return shop


@pytest.mark.parametrize("narrow", [READ], indirect=True, ids=["small"])
def test_an_old_version_that_is_gone_leads_to_a_rebuild(
    narrow: StreamTables, tmp_path: Path
) -> None:
    without_old_files(narrow, tmp_path)
    result = refreshed(narrow, "t")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "history" in result.reason.text


@pytest.mark.parametrize("narrow", [{}], indirect=True, ids=["looked up"])
def test_rows_of_before_that_are_looked_up_need_no_old_version(
    narrow: StreamTables, tmp_path: Path
) -> None:
    without_old_files(narrow, tmp_path)
    assert refreshed(narrow, "t").mode == "differential"
