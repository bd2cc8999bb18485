"""The current time in a query: one moment for a refresh, and time that moves is a change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.delta_tables import DeltaTableFile

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RECENT = "SELECT id, at FROM events WHERE at > now() - INTERVAL 1 HOUR"


class Watch:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.moment = NOON

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **amount: int) -> None:
        self.moment += timedelta(**amount)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def db(tmp_path: Path, spark_sessions: SparkSessions, watch: Watch) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), clock=watch) as opened:
        yield opened


@pytest.fixture
def events(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    rows = [(number, NOON - timedelta(minutes=20 * number)) for number in range(1, 6)]
    table = DeltaTableFile(tmp_path / "events", {"id": "bigint", "at": "timestamp"}, rows)
    db.add_source("events", path=table.path, key=["id"])
    return table


def _ids(db: StreamTables, name: str) -> list[int]:
    return sorted(row.id for row in db.read(name).collect())


def test_rows_leave_because_time_moved(db: StreamTables, events: DeltaTableFile, watch: Watch):
    db.create("recent", RECENT, mode="differential")
    db.refresh("recent")
    assert _ids(db, "recent") == [1, 2]
    watch.move(minutes=25)
    result = db.refresh("recent")
    assert (result.mode, result.outcome) == ("differential", "applied")
    assert _ids(db, "recent") == [1]
    assert db.verify("recent").equal


def test_time_and_rows_move_together(db: StreamTables, events: DeltaTableFile, watch: Watch):
    db.create("recent", RECENT, mode="differential")
    db.create("counted", "SELECT count(*) AS n FROM recent", mode="differential")
    db.refresh_all()
    watch.move(minutes=50)
    events.append((9, NOON + timedelta(minutes=40)))
    events.delete("id = 2")
    db.refresh_all()
    assert _ids(db, "recent") == [9]
    assert [row.n for row in db.read("counted").collect()] == [1]
    assert db.verify("recent").equal
    assert db.verify("counted").equal


def test_a_moment_that_stands_still_is_no_change(db: StreamTables, events: DeltaTableFile):
    db.create("recent", RECENT, mode="differential")
    db.refresh("recent")
    assert db.refresh("recent").outcome == "no-change"


def test_time_that_moves_without_effect_makes_no_commit(
    db: StreamTables, events: DeltaTableFile, watch: Watch
):
    db.create("recent", RECENT, mode="differential")
    db.refresh("recent")
    watch.move(seconds=1)
    result = db.refresh("recent")
    assert result.outcome == "no-change"
    assert db.verify("recent").equal


def test_the_current_date_is_that_of_the_refresh(
    db: StreamTables, events: DeltaTableFile, watch: Watch
):
    query = "SELECT id, datediff(current_date(), to_date(at)) AS days FROM events WHERE id = 1"
    db.create("aged", query, mode="differential")
    db.refresh("aged")
    watch.move(days=3)
    db.refresh("aged")
    assert [row.days for row in db.read("aged").collect()] == [3]
    assert db.verify("aged").equal


def test_the_current_time_in_on_of_an_outer_join_moves_rows_to_and_from_null(
    db: StreamTables, events: DeltaTableFile, watch: Watch
):
    query = (
        "SELECT a.id, b.at AS late FROM events AS a LEFT JOIN events AS b "
        "ON a.id = b.id AND b.at < now() - INTERVAL 1 HOUR"
    )
    db.create("late", query, mode="differential")
    db.refresh("late")
    assert sorted(row.id for row in db.read("late").collect() if row.late) == [4, 5]
    watch.move(minutes=25)
    events.delete("id = 5")
    assert db.refresh("late").mode == "differential"
    assert sorted(row.id for row in db.read("late").collect() if row.late) == [2, 3, 4]
    assert _ids(db, "late") == [1, 2, 3, 4]
    assert db.verify("late").equal
