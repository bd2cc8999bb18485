"""A writer that dies: before the source's commit nothing happened, after it all of it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.delta_tables import DeltaTableFile
from tests.support.killed_child import killed_child

CHILD = """
import sys
from streamtables.api import StreamTables
with StreamTables(sys.argv[1]) as db:
    db.write("t", {"insert": [{"id": 9, "a": 2}], "delete": [{"id": 1}]})
"""


@pytest.mark.fault(
    "process",
    "killed while it writes through `db.write`",
    step="computed, source written, first table written",
    seen="before the commit of the source nothing; after it readers see all of the write",
    recovery="by itself",
)
@pytest.mark.crash
@pytest.mark.parametrize("boundary", ["write-computed", "source-written", "follower-committed"])
def test_a_killed_writer_leaves_no_half(
    spark_sessions: SparkSessions, tmp_path: Path, boundary: str
) -> None:
    DeltaTableFile(tmp_path / "t", {"id": "bigint", "a": "int"}, [(1, 1), (2, 2)])
    with StreamTables(tmp_path / "w", spark=spark_sessions.get()) as db:
        db.add_source("t", path=tmp_path / "t", key="id")
        db.create("n", "SELECT a, count(*) AS n FROM t GROUP BY a", mode="immediate")
        db.create("all_ids", "SELECT id FROM t", mode="immediate")
        db.create("total", "SELECT sum(n) AS total FROM n", mode="immediate")
        db.refresh_all()
    killed_child(CHILD, tmp_path / "w", boundary)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get()) as db:
        happened = boundary != "write-computed"
        ids = {row.id for row in db.read("all_ids").collect()}
        assert ids == ({2, 9} if happened else {1, 2})
        rows = {(row.a, row.n) for row in db.read("n").collect()}
        assert rows == ({(2, 2)} if happened else {(1, 1), (2, 1)})
        # The dead writer's locks are in nobody's way.
        db.write("t", [{"id": 10, "a": 3}])
        for name in ("n", "all_ids", "total"):
            assert db.verify(name).equal, name
