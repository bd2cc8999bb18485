"""A writer that dies: before the source's commit nothing happened, after it all of it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.delta_tables import DeltaTableFile

CHILD = """
import sys
from streamtables.api import StreamTables
with StreamTables(sys.argv[1]) as db:
    db.write("t", {"insert": [{"id": 9, "a": 2}], "delete": [{"id": 1}]})
"""


def killed_writer(folder: Path, boundary: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "w")],
        env={
            **os.environ,
            "STREAMTABLES_FAIL_POINT": boundary,
            "STREAMTABLES_SPARK_MASTER": "local[2]",
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stdout + child.stderr


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
    killed_writer(tmp_path, boundary)
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
