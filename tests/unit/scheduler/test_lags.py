"""How far tables are behind: found from logs and catalog alone, on Delta tables without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pyarrow as pa
import pytest

from streamtables.engine.describe import describe
from streamtables.errors import ConfigError
from streamtables.scheduler.lags import TableLag
from streamtables.scheduler.stored_rows import StoredRows
from tests.support.web_warehouse import WebWarehouse, open_web_warehouse

ROWS = pa.table({"id": [1, 2]})


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[WebWarehouse]:
    found = open_web_warehouse(tmp_path)
    yield found
    found.db.close()


def lag_of(shop: WebWarehouse, name: str) -> TableLag:
    return next(lag for lag in shop.db.lags() if lag.name == name)


def test_the_lag_counts_from_the_oldest_change_that_a_table_lacks(shop: WebWarehouse):
    first = lag_of(shop, "sales.large")
    assert first.standing == "behind"
    assert first.lag_seconds is not None
    # The clock of this warehouse runs half a minute ahead of the logs.
    assert 30 <= first.lag_seconds < 60
    shop.orders.append((6, 20, "2.00", "f"))
    second = lag_of(shop, "sales.large")
    assert second.lag_seconds is not None
    assert second.lag_seconds >= first.lag_seconds


def test_a_table_that_has_seen_all_has_no_lag(shop: WebWarehouse):
    shop.fill("sales.large", ROWS)
    assert lag_of(shop, "sales.large").standing == "current"
    assert lag_of(shop, "sales.large").lag_seconds == 0.0
    # What stands on it counts from the same roots.
    assert lag_of(shop, "sales.regions").lag_seconds == 0.0


def test_commits_that_change_no_row_are_no_lag(shop: WebWarehouse):
    shop.fill("sales.large", ROWS)
    shop.orders.open().optimize.compact()
    assert lag_of(shop, "sales.large").standing == "current"


def test_a_table_never_filled_and_a_source_that_is_gone_have_no_number(shop: WebWarehouse):
    assert lag_of(shop, "people.never").standing == "unfilled"
    rmtree(shop.orders.path)
    gone = lag_of(shop, "sales.large")
    assert (gone.standing, gone.lag_seconds) == ("source-unreadable", None)


def test_lags_are_judged_by_the_options(shop: WebWarehouse):
    assert lag_of(shop, "finance.promised").judgement == "late"
    assert lag_of(shop, "sales.large").judgement == "ok"
    shop.db.alter("sales.large", options={"target_lag": "1 second"})
    assert lag_of(shop, "sales.large").judgement == "at-risk"


def test_a_failure_is_told_with_its_code(shop: WebWarehouse):
    failed = lag_of(shop, "finance.totals")
    assert (failed.last_outcome, failed.last_error_code) == ("failed", "ST-1407")
    assert lag_of(shop, "sales.large").last_error is None


def test_after_a_failure_nobody_knows_that_nothing_is_lacking(shop: WebWarehouse):
    """Of a captured source the mirror stands still while its server is away."""
    shop.note("people.sampled", state="failed", error_code="ST-3000", error_text="it is away")
    failed = lag_of(shop, "people.sampled")
    assert (failed.standing, failed.lag_seconds) == ("current", None)


def test_refreshes_are_counted_by_minute_and_outcome(shop: WebWarehouse):
    found = shop.db.refreshes_per_minute(60)
    expected = Counter(
        (record.started_at.replace(second=0, microsecond=0), record.outcome)
        for table in shop.db.stream_tables()
        for record in shop.db.history(table.name)
    )
    assert {(item.minute, item.outcome): item.refreshes for item in found} == expected
    assert len(expected) > 10
    assert [item.minute for item in found] == sorted(item.minute for item in found)
    assert sum(item.refreshes for item in shop.db.refreshes_per_minute(2)) < len(expected)
    for minutes in (0, 1441):
        with pytest.raises(ConfigError):
            shop.db.refreshes_per_minute(minutes)


def test_rows_are_counted_once_per_version(shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch):
    described: list[str] = []

    def counted(location: str):
        described.append(location)
        return describe(location)

    monkeypatch.setattr("streamtables.scheduler.stored_rows.describe", counted)
    rows, place = StoredRows(), shop.db._catalog.stream_table("sales.large").location
    assert [rows.of(place), rows.of(place)] == [2, 2]
    assert len(described) == 1
    shop.fill("sales.large", pa.table({"id": [1, 2, 3]}))
    assert [rows.of(place), rows.of(place)] == [3, 3]
    assert len(described) == 2
    assert rows.of(f"{place}-none") is None
