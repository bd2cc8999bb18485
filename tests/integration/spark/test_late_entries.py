"""Entries of a source's log that a store shows late: each is followed once, and in its order.

The disk is taken for a store here, whose files come and go for all who read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import TransientError
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import assert_equal_to_query

QUERY = "SELECT a, count(*) AS n, sum(id) AS total FROM t GROUP BY a"


@pytest.fixture
def source(db: StreamTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeltaTableFile:
    made = DeltaTableFile(
        tmp_path / "t", {"id": "bigint", "a": "int"}, [(n, n % 3) for n in range(9)]
    )
    db.add_source("t", path=made.path, key=["id"])
    db.create("s", QUERY, mode="differential", full="forbid")
    db.refresh("s", full=True)
    monkeypatch.setattr("streamtables.engine.delta_log.local_path", lambda _: None)
    return made


@contextmanager
def late(source: DeltaTableFile, version: int) -> Iterator[None]:
    """Have nobody see an entry."""
    entry = source.path / "_delta_log" / f"{version:020d}.json"
    aside = source.path / entry.name
    entry.rename(aside)
    yield
    aside.rename(entry)


@pytest.mark.fault(
    "files",
    "an object store shows an entry of a source's log late, or after the one that follows it",
    step="refresh",
    seen="nothing, or ST-3000; the table stands for the entry before it",
    recovery="by itself, as soon as it is shown; each change once",
)
@pytest.mark.parametrize("commits", [1, 2], ids=["the-last", "one-in-between"])
@pytest.mark.parametrize("first_look", [False, True], ids=["seen-before", "first-look"])
def test_a_late_entry_is_followed_once_it_is_shown(
    db: StreamTables, source: DeltaTableFile, commits: int, first_look: bool
) -> None:
    for number in range(commits):
        source.append((20 + number, 1))
    with late(source, 1):
        if first_look:
            db._around.watch.forget(db._catalog.source("t").id)
        if first_look and commits == 2:
            with pytest.raises(TransientError, match="not shown yet"):
                db.refresh("s")
        else:
            assert db.refresh("s").outcome == "no-change"
        assert [table.state for table in db.stream_tables()] == ["active"]
    done = db.refresh("s")
    assert (done.mode, db.history("s", limit=1)[0].rows_in) == ("differential", commits)
    assert_equal_to_query(db, "s")
    assert db.refresh("s").outcome == "no-change"
