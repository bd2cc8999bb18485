"""A small change that touches too many files is merged by Spark: the same rows, and a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.refresh import routing, small_write
from streamtables.refresh.routing import Hand, WriteRates
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, Shop, change
from tests.support.spark_oracle import refreshed

USUAL = 0.1


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path) -> Iterator[StreamTables]:
    settings = settings_with(adaptive_merge_strategy=True)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as opened:
        yield opened


def expect(patch: pytest.MonkeyPatch, *, merge: float) -> None:
    """Let a merge be expected to take so long, and the other hand as ever, for any size."""
    patch.setattr(small_write, "ROUTED_FROM", 0)
    seconds: dict[Hand, float] = {"replace-keys": USUAL, "merge": merge}
    rates = {hand: WriteRates(taken, 0.0, 0.0) for hand, taken in seconds.items()}
    patch.setattr(routing, "WRITE_RATES", rates)


@pytest.mark.parametrize("name", ["bag", "state", "groups"])
def test_the_table_follows_its_query(
    db: StreamTables, shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    expect(monkeypatch, merge=0.0001)
    db.create("t", QUERIES[name], mode="differential")
    refreshed(db, "t")
    change(shop)
    result = refreshed(db, "t")
    assert (result.strategy, result.outcome) == ("merge", "applied")
    [apply] = [step for step in db.history("t")[0].steps if step.name == "apply"]
    assert (apply.facts["routed"], apply.facts["hand"]) == ("merge", "spark")


def test_another_hand_than_the_last_time_is_said_with_the_numbers(
    db: StreamTables, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(monkeypatch, merge=1_000 * USUAL)
    db.create("t", QUERIES["groups"], mode="differential")
    refreshed(db, "t")
    shop.orders.delete("id = 1")
    assert refreshed(db, "t").strategy == "replace-keys"
    expect(monkeypatch, merge=0.0001)
    shop.orders.delete("id = 2")
    assert refreshed(db, "t").strategy == "merge"
    [note] = [note for note in db.history("t")[0].notes if "no longer by" in note]
    assert "merge 0.0 s" in note


def test_rows_that_only_come_are_appended_whatever_is_expected(
    db: StreamTables, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(monkeypatch, merge=0.0001)
    db.create("t", QUERIES["filter"], mode="differential")
    refreshed(db, "t")
    shop.orders.append((9, 10, "7.00", "z"))
    assert refreshed(db, "t").strategy == "append"


def test_a_table_may_name_the_hand(db: StreamTables, shop: Shop) -> None:
    db.create("t", QUERIES["groups"], mode="differential", options={"merge_strategy": "merge"})
    refreshed(db, "t")
    shop.orders.delete("id = 1")
    assert refreshed(db, "t").strategy == "merge"
    db.alter("t", options={"merge_strategy": "replace_keys"})
    shop.orders.delete("id = 2")
    assert refreshed(db, "t").strategy == "replace-keys"
