"""A refresh that somebody stops: its Spark jobs end, nothing is written, and the table goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import NotFoundError, RefreshCancelledError
from tests.support.delta_tables import DeltaTableFile
from tests.support.leaders import Leaders, wait_for
from tests.support.spark_oracle import assert_equal_to_query

ENDLESS = 200_000
"""A row of the table with this number is multiplied to forty thousand million."""
SLOW = """SELECT id, max(x * y) AS m FROM t LATERAL VIEW explode(sequence(1L, n)) AS x
          LATERAL VIEW explode(sequence(1L, n)) AS y GROUP BY id"""
SLEEPY = "SELECT id, max(slept(n)) AS m FROM t GROUP BY id"
"""Stops at once: a task that multiplies one row looks up only when it is done with it, and would
keep a core of the Spark that other tests use."""


@pytest.fixture
def t(tmp_path: Path) -> DeltaTableFile:
    return DeltaTableFile(tmp_path / "t", {"id": "bigint", "n": "bigint"}, [(1, 3), (2, 4)])


def slept(n: int) -> int:
    if n >= ENDLESS:
        time.sleep(600)
    return n * n


def define(
    db: StreamTables, t: DeltaTableFile, query: str = SLEEPY, schedule: str = "manual"
) -> None:
    db.add_source("t", path=t.path, key=["id"])
    db.create("slow", query, schedule=schedule)
    db.create("reader", "SELECT count(*) AS n, sum(m) AS total FROM slow", schedule=schedule)


def runs(db: StreamTables) -> bool:
    return any(record.state == "running" for record in db.history("slow"))


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path, t: DeltaTableFile) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "w", spark=spark_sessions.get()) as opened:
        opened.register_function("slept", slept, returns="bigint")
        define(opened, t)
        yield opened


@pytest.mark.parametrize("filled", [False, True])
def test_a_refresh_that_is_cancelled_leaves_the_table_and_no_spark_job(
    db: StreamTables, t: DeltaTableFile, filled: bool
) -> None:
    if filled:
        db.refresh("reader")
    before = [(item.version, item.rows) for item in db.status()]
    t.update("id = 2", n=str(ENDLESS))
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(db.refresh, "reader")
        wait_for(lambda: runs(db) or running.done(), "running")
        # Another connection, as another process has one.
        with StreamTables(db.warehouse) as other:
            assert other.cancel("slow")
            assert not other.cancel("slow")
            assert not other.cancel()
        with pytest.raises(RefreshCancelledError, match="by user"):
            running.result(60)
    [record] = [r for r in db.history("slow") if r.state == "cancelled"]
    assert (record.reason_code, record.error_code) == ("cancelled", "")
    assert "cancelled by user" in record.reason_text
    waiting = db.history("reader")[0]
    assert (waiting.state, waiting.reason_code) == ("deferred", "cancelled")
    assert [(item.version, item.rows) for item in db.status()] == before
    tracker = db.spark.sparkContext.statusTracker()
    wait_for(lambda: not tracker.getActiveJobsIds(), "idle", 20)
    t.update("id = 2", n="5")
    db.refresh("reader")
    for name in ("slow", "reader"):
        assert_equal_to_query(db, name)
        assert db.verify(name).equal


def test_where_nothing_runs_nothing_is_cancelled(db: StreamTables) -> None:
    assert not db.cancel("slow")
    with pytest.raises(NotFoundError):
        db.cancel("nowhere")


@pytest.mark.apart
@pytest.mark.slow
def test_the_command_line_cancels_what_runs_in_the_leader(
    tmp_path: Path, t: DeltaTableFile
) -> None:
    leaders = Leaders(tmp_path / "w")

    def cancel(*what: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "streamtables.cli", "cancel", "-w", str(tmp_path / "w")]
        return subprocess.run([*command, *what], capture_output=True, text=True, check=False)

    with StreamTables(tmp_path / "w") as db:
        define(db, t, SLOW, "on change")
        leaders.start()
        try:
            # Filled, in one round, so that its Spark is there.
            wait_for(lambda: db.epoch() == 1, "filled")
            assert [item.rows for item in db.status()] == [1, 2]
            t.update("id = 2", n=str(ENDLESS))
            wait_for(lambda: runs(db), "running")
            done = cancel("slow")
            assert (done.returncode, done.stdout) == (0, 'the refresh of "slow" is cancelled\n')
            record = db.history("slow", 1)[0]
            [asked] = db._catalog.cancellations([record.id]).values()
            assert record.finished_at is not None
            assert (record.finished_at - asked.asked_at).total_seconds() < 10
            wait_for(lambda: "cancelled" in {e.kind for e in db.events("slow")}, "told")
            nothing, unknown = cancel("--all"), cancel("slwo")
            assert (nothing.returncode, "no refresh is running" in nothing.stdout) == (0, True)
            assert (unknown.returncode, "ST-1302" in unknown.stderr) == (2, True)
            # It is no failure, readers see what they saw, and it waits for the next change.
            assert db.history("slow", 1)[0] == record
            assert db.epoch() == 1
            assert {table.state for table in db.stream_tables()} == {"active"}
            t.update("id = 2", n="5")
            total = [{"n": 2, "total": 9 + 25}]
            wait_for(lambda: db.read_rows("reader", 9).to_pylist() == total, "refreshed")
            assert set(leaders.end()) == {0}
        finally:
            leaders.kill()
