"""The benchmark of looks counts what a tick asks of PostgreSQL, and its bars are the truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scheduler_detect
from streamtables.demo.postgres_server import running_server

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("kind", ["triggers", "wal"])
def test_a_look_at_captured_tables_is_one_statement_to_the_catalog_and_one_to_the_server(
    tmp_path: Path, kind: str
):
    # A vacuum is a transaction too, and would come whenever it likes.
    with running_server(autovacuum="off", fsync="off") as server:
        found = scheduler_detect.counted(tmp_path, kind, 2, 2, server)
    assert list(found["asked"].values())[:2] == [1, 1]
    assert {bar.verdict for bar in scheduler_detect._bars(found)} == {"met"}
