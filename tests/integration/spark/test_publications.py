"""Publications of tables that Spark and deltalake keep: applied changes give the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine import upkeep as jobs
from streamtables.engine.session import SparkSessions
from streamtables.positions import Version
from tests.support.bags import bag_of
from tests.support.published import Rows, applied
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, Shop, change, open_shop
from tests.support.spark_oracle import stored_bag


def caught_up(db: StreamTables, copy: Rows) -> Rows:
    """Take and acknowledge until nothing is left, and compare with the table."""
    while not (found := db.changes("t", "s", 3)).is_empty:
        assert not found.reset
        copy = applied(copy, found)
        db.acknowledge("t", "s", found.upto)
    assert bag_of(list(copy.elements())) == stored_bag(db, "t")
    return copy


@pytest.mark.parametrize("query", ["filter", "bag", "state"])
@pytest.mark.parametrize("rows_max", [10_000, 0], ids=["deltalake", "spark"])
def test_applied_changes_give_the_table(
    spark_sessions: SparkSessions, tmp_path: Path, query: str, rows_max: int
) -> None:
    settings = settings_with(driver_rows_max=rows_max)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("t", QUERIES[query])
        db.publish("t")
        db.subscribe("t", "s", "start")
        db.refresh("t")
        found = db.changes("t", "s")
        copy = applied(Counter(), found)
        db.acknowledge("t", "s", found.upto, incarnation=found.incarnation)
        shop.orders.append((7, 10, "8.00", "g"))
        db.refresh("t")
        copy = caught_up(db, copy)
        change(shop)
        db.refresh("t")
        db.refresh("t", full=True)
        caught_up(db, copy)
        # What Spark wrote on the way is gone again.
        assert list((tmp_path / "w" / "_streamtables").glob("published/*")) == []


def test_other_columns_are_told_as_a_reset(db: StreamTables, shop: Shop) -> None:
    db.create("t", "SELECT id FROM orders")
    db.refresh("t")
    db.publish("t")
    db.subscribe("t", "s")
    db.alter("t", query="SELECT id, note FROM orders")
    db.refresh("t")
    found = db.changes("t", "s")
    assert found.reset == "the table has other columns"
    assert bag_of(list(applied(Counter(), found).elements())) == stored_bag(db, "t")
    db.acknowledge("t", "s", found.upto, incarnation=found.incarnation)
    assert db.changes("t", "s").is_empty


def test_a_tick_warns_of_a_lagging_subscriber_and_nothing_is_pruned_until_it_acknowledges(
    spark_sessions: SparkSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours: list[int] = []

    def removed(location: str, version: Version, kept: int) -> int:
        hours.append(kept)
        return 0

    monkeypatch.setattr(jobs, "remove_unused", removed)
    settings = settings_with(publication_lag_warn=2, retention_hours=1, compact_after=0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("t", QUERIES["filter"], schedule="on change")
        db.publish("t")
        db.subscribe("t", "s", "start")
        db.tick()
        first = db.changes("t", "s")
        copy = applied(Counter(), first)
        db.acknowledge("t", "s", first.upto, incarnation=first.incarnation)
        for number in (11, 12, 13):
            shop.orders.append((number, 10, "7.00", "z"))
            db.tick()
        courier = db._scheduler._ticker.courier
        assert courier is not None
        assert courier.wait(60)
        kinds = [event.kind for event in db.events("t")]
        assert kinds.count("publication_lag") == 1
        assert db._catalog.subscribed_versions("t") == [Version(first.upto)]
        db.maintain("t")
        assert hours[-1] >= 2
        caught_up(db, copy)
        db.push()
        assert db.events("t")[0].kind == "publication_lag_cleared"
