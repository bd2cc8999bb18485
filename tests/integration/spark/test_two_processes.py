"""Crashes and rivals: whatever happens between two steps, nothing is lost and nothing twice."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.refresh.results import Refresh
from tests.support.delta_tables import DeltaTableFile
from tests.support.killed_child import killed_child
from tests.support.spark_oracle import assert_equal_to_query

COLUMNS = {"id": "bigint", "a": "int"}
QUERY = "SELECT a, count(*) AS n, sum(id) AS total FROM t GROUP BY a"
CHILD = """
import sys
from streamtables.api import StreamTables
with StreamTables(sys.argv[1]) as db:
    results = db.refresh_all()
    print([r.outcome for r in results])
"""


@pytest.fixture
def source(tmp_path: Path) -> DeltaTableFile:
    return DeltaTableFile(tmp_path / "t", COLUMNS, [(1, 1), (2, 2), (3, 2)])


def opened(spark_sessions: SparkSessions, folder: Path) -> StreamTables:
    return StreamTables(folder / "warehouse", spark=spark_sessions.get())


@pytest.mark.fault(
    "process",
    "killed while it refreshes",
    step="pins chosen, changes computed, committed, recorded; first fill and small change",
    seen="the refresh in `history` as failed, or as applied with a note that its commit was adopted",
    recovery="by itself",
)
@pytest.mark.crash
@pytest.mark.parametrize("boundary", ["pins-chosen", "delta-computed", "committed", "recorded"])
@pytest.mark.parametrize("filled", [True, False], ids=["small-change", "first-fill"])
def test_a_kill_at_any_boundary_loses_nothing_and_applies_nothing_twice(
    spark_sessions: SparkSessions,
    source: DeltaTableFile,
    tmp_path: Path,
    boundary: str,
    filled: bool,
) -> None:
    with opened(spark_sessions, tmp_path) as db:
        db.add_source("t", path=source.path, key=["id"])
        db.create("s", QUERY)
        db.create("busy", "SELECT a FROM s WHERE n > 1")
        if filled:
            db.refresh_all()
            source.append((4, 1))
            source.delete("id = 2")
    killed_child(CHILD, tmp_path / "warehouse", boundary)
    with opened(spark_sessions, tmp_path) as db:
        assert all(record.state != "running" for record in db.history("s"))
        db.refresh_all()
        for name in ("s", "busy"):
            assert_equal_to_query(db, name)
        committed = [r for r in db.history("s") if r.state == "applied"]
        assert len({record.sequence for record in committed}) == len(committed)
        source.append((9, 2))
        db.refresh_all()
        for name in ("s", "busy"):
            assert_equal_to_query(db, name)


def _refresh_into(db: StreamTables, results: list[Refresh]) -> None:
    results.append(db.refresh("s"))


@pytest.mark.fault(
    "rivals",
    "two or three processes refresh one table at once",
    step="refresh",
    seen="one `applied`, the others `superseded` or `no-change`",
    recovery="none needed",
)
@pytest.mark.parametrize("rivals", [2, 3])
def test_rival_refreshers_apply_each_change_once(
    spark_sessions: SparkSessions, source: DeltaTableFile, tmp_path: Path, rivals: int
) -> None:
    handles = [opened(spark_sessions, tmp_path) for _ in range(rivals)]
    db = handles[0]
    db.add_source("t", path=source.path, key=["id"])
    db.create("s", QUERY)
    db.refresh("s")
    for number in range(3):
        source.append((10 + number, number))
        results: list[Refresh] = []
        threads = [threading.Thread(target=_refresh_into, args=(one, results)) for one in handles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outcomes = sorted(result.outcome for result in results)
        assert outcomes.count("applied") == 1
        assert set(outcomes) <= {"applied", "superseded", "no-change"}
        assert_equal_to_query(db, "s")
    for handle in handles:
        handle.close()


@pytest.mark.fault(
    "rivals",
    "a process goes on with a catalog that it read long ago",
    step="refresh",
    seen="`applied` on the rows of the other, or `superseded`",
    recovery="none needed",
)
def test_a_stale_leader_cannot_put_its_frontier_over_the_rows_of_another(
    spark_sessions: SparkSessions, source: DeltaTableFile, tmp_path: Path
) -> None:
    stale, other = opened(spark_sessions, tmp_path), opened(spark_sessions, tmp_path)
    stale.add_source("t", path=source.path, key=["id"])
    stale.create("s", QUERY)
    stale.refresh("s")
    old = stale._catalog.snapshot()
    source.append((4, 7))
    other.refresh("s")
    source.append((5, 7))
    from streamtables.refresh.round import Round

    [table] = stale.stream_tables()
    [result] = Round(stale._around, old, (table,)).run()
    assert result.outcome in ("applied", "superseded")
    assert_equal_to_query(other, "s")
    other.refresh("s")
    assert_equal_to_query(other, "s")
    for handle in (stale, other):
        handle.close()
