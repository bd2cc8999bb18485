"""A pause that comes while a tick runs: what runs is finished, and nothing more starts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import RefreshRecord
from streamtables.engine.session import SparkSessions
from streamtables.errors import TransientError
from streamtables.refresh.one import RefreshOne
from streamtables.refresh.recording import Recording
from tests.support.moved_clock import Clock
from tests.support.settings import settings_with
from tests.support.shop import REVENUE, change, open_shop
from tests.support.spark_oracle import assert_equal_to_query

PATIENCE = 120.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path, clock: Clock) -> Iterator[StreamTables]:
    settings = settings_with(worker_pool_size="1")
    spark = spark_sessions.get()
    with StreamTables(tmp_path / "w", spark=spark, settings=settings, clock=clock) as opened:
        yield opened


def test_a_drain_in_the_middle_of_a_tick(
    db: StreamTables, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop(db, tmp_path)
    db.create("first", REVENUE, schedule="on change")
    db.create("second", "SELECT count(*) AS n FROM first", schedule="on change")
    db.tick()
    change(shop)
    clock.forward(60)
    began, go_on = Event(), Event()
    written = RefreshOne._written

    def slowly(self: RefreshOne, *given: object) -> object:
        began.set()
        assert go_on.wait(PATIENCE)
        return written(self, *given)  # type: ignore[arg-type]  # handed on

    monkeypatch.setattr(RefreshOne, "_written", slowly)
    before = db.epoch()
    with ThreadPoolExecutor(2) as threads, StreamTables(db.warehouse) as other:
        ticking = threads.submit(db.tick)
        assert began.wait(PATIENCE)
        with pytest.raises(TransientError, match="still being refreshed"):
            other.pause(wait=True, timeout=0.5)
        draining = threads.submit(other.pause, wait=True)
        go_on.set()
        draining.result(PATIENCE)
        # Whoever waited sees what ran finished.
        assert db.history("first", 1)[0].state == "applied"
        assert [result.table for result in ticking.result(PATIENCE)] == ["first"]
        assert db.tick() == []
        assert db.history("second", 1)[0].reason_code == "first-fill"
        other.resume()
    clock.forward(60)
    assert [r.table for r in db.tick() if r.outcome == "applied"] == ["second"]
    assert db.epoch() > before
    for name in ("first", "second"):
        assert_equal_to_query(db, name)


def test_a_pause_between_the_choice_and_the_start_is_seen_by_one_of_the_two(
    db: StreamTables, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop(db, tmp_path)
    db.create("first", REVENUE, schedule="on change")
    db.create("second", "SELECT count(*) AS n FROM first", schedule="on change")
    db.tick()
    change(shop)
    clock.forward(60)
    begin = Recording.began
    seen: list[RefreshRecord] = []

    def began(self: Recording) -> None:
        with StreamTables(db.warehouse) as other:
            # Nothing is recorded to run yet, so that it does not wait.
            other.pause(wait=True, timeout=0)
        begin(self)
        seen.append(self.record)

    monkeypatch.setattr(Recording, "began", began)
    before = [(item.name, item.version) for item in db.status()]
    [deferred] = db.tick()
    assert (deferred.table, deferred.outcome, deferred.reason.code) == (
        "first",
        "deferred",
        "paused",
    )
    assert [(item.name, item.version) for item in db.status()] == before
    assert [record.id for record in seen] == [db.history("first", 1)[0].id]
    assert db._catalog.running_refreshes() == ()
    monkeypatch.undo()
    db.resume()
    clock.forward(60)
    assert sorted(result.table for result in db.tick()) == ["first", "second"]
    for name in ("first", "second"):
        assert_equal_to_query(db, name)
