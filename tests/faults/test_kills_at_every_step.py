"""Operations on the catalog and on files, killed before each of their steps."""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.catalog import Catalog, default_location
from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.support.published import KEYED, open_shelf
from tests.unit.catalog.builders import record
from tests.unit.catalog.test_old_catalogs import contents, made_at

pytestmark = [pytest.mark.crash, pytest.mark.slow]

ROWS = Counter({(1, "a"): 1, (2, None): 1})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A warehouse with a table that has rows, and one that has none."""
    place = tmp_path / "place"
    place.mkdir()
    shelf = open_shelf(place)
    shelf.fill("t", (1, "a"), (2, None))
    shelf.db.close()
    return place


def sound(folder: Path) -> StreamTables:
    """Open the warehouse after a kill; its catalog is whole, and nothing in it is wrong."""
    file = sqlite3.connect(default_location(folder / "warehouse"))
    assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    file.close()
    return StreamTables(folder / "warehouse")


def rows(db: StreamTables) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in db.read_rows("t", 100).to_pylist())


def errors(db: StreamTables) -> list[str]:
    return [item.code for item in db.health_check() if item.severity == "error"]


@pytest.mark.fault(
    "process",
    "killed while it creates a stream table",
    step="every step",
    seen="the table is there, without rows, or it is not",
    recovery="by itself; `create` again where it is not there",
)
def test_a_killed_create_made_the_table_or_nothing(folder: Path) -> None:
    found = []
    for _ in killed_at_every_step(operations.create, folder):
        with sound(folder) as db:
            names = {table.name for table in db.stream_tables()}
            assert names in ({"t", "bag"}, {"t", "bag", "fresh"})
            found.append("fresh" in names)
            table = db.create("fresh", "SELECT count(*) AS n FROM t", if_not_exists=True)
            assert len(table.inputs) == 1
            assert (errors(db), rows(db)) == ([], ROWS)
    assert (found[0], found[-1]) == (False, True)
    assert found == sorted(found)


@pytest.mark.fault(
    "process",
    "killed while it alters a stream table",
    step="every step",
    seen="all of the old definition, or all of the new one",
    recovery="by itself; `alter` again where it is the old one",
)
def test_a_killed_alter_did_all_or_nothing(folder: Path) -> None:
    found = []
    for _ in killed_at_every_step(operations.alter, folder):
        with sound(folder) as db:
            [table] = [item for item in db.stream_tables() if item.name == "t"]
            assert (table.query, table.schedule) in (
                (KEYED, "manual"),
                (operations.NEW_QUERY, "5 minutes"),
            )
            found.append(table.query == operations.NEW_QUERY)
            assert (errors(db), rows(db)) == ([], ROWS)
    assert (found[0], found[-1]) == (False, True)


@pytest.mark.fault(
    "process",
    "killed while it drops a stream table",
    step="every step, each file that is removed among them",
    seen="the table with all its rows, or no table; what is left of its files is `orphan` in `health`",
    recovery="by itself; `health` gives the command that removes the files",
)
def test_a_killed_drop_leaves_a_whole_table_or_files_that_health_names(folder: Path) -> None:
    found = []
    for _ in killed_at_every_step(operations.drop, folder):
        with sound(folder) as db:
            there = "t" in {table.name for table in db.stream_tables()}
            if there:
                assert rows(db) == ROWS
            left = [item.name for item in (folder / "warehouse" / "tables").iterdir()]
            orphans = [item for item in db.health_check() if item.code == "orphan"]
            assert [item.subject for item in orphans] == (
                [] if there else [f"tables/{name}" for name in left]
            )
            for item in orphans:
                assert item.action.startswith("Remove it if nobody reads it: rm -r ")
            assert errors(db) == []
            found.append((there, len(left)))
            # The name is free, and a new table under it is not disturbed by what was left.
            db.drop("t", if_exists=True)
            db.create("t", KEYED)
    assert (found[0], found[-1]) == ((True, 1), (False, 0))
    assert (False, 1) in found


@pytest.mark.fault(
    "process",
    "killed while it upgrades the catalog",
    step="every step of all migrations",
    seen="nothing: the catalog is at the old revision, or at the new one, with all that it held",
    recovery="by itself: the next process upgrades it",
)
def test_a_killed_upgrade_is_done_by_the_next_process(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    made_at(default_location(folder), "0001")
    before = contents(default_location(folder))
    revisions = []
    for _ in killed_at_every_step(operations.migrate, folder):
        path = default_location(folder)
        now = contents(path)
        revisions.append(now["alembic_version"])
        if revisions[-1] == before["alembic_version"]:
            assert now == before
        with Catalog.open(path) as catalog:
            assert [item.id for item in catalog.stream_table("t").inputs] == ["s"]
        for kept in path.parent.glob("catalog.db.0001*"):
            if not kept.name.endswith(("-journal", "-wal", "-shm")):
                assert contents(kept) in (before, {})
    assert revisions[0] == before["alembic_version"] != revisions[-1]


@pytest.mark.fault(
    "process",
    "killed while it takes over from a leader that died",
    step="every step from opening the warehouse to the end of the first tick",
    seen="an event `leader` for each that led; the refresh of the first one as failed",
    recovery="by itself: the next process takes over",
)
def test_a_killed_takeover_is_made_by_the_next_process(folder: Path) -> None:
    with StreamTables(folder / "warehouse") as db:
        host = db._around.process.rsplit(":", 1)[0]
        table = db._catalog.stream_table("t")
        # No process has the number: it is beyond what the system gives.
        dead = f"{host}:{2**30}"
        now = datetime.now(UTC)
        db._catalog.begin_refresh(record(table.id, sequence=2, process=dead, started_at=now))
        assert db._catalog.lead(dead, now, 10.0) is not None
    for _ in killed_at_every_step(operations.take_over, folder):
        operations.take_over(folder, hours=2)
        with sound(folder) as db:
            assert db._catalog.running_refreshes() == ()
            lease = db._catalog.lease()
            assert lease is not None
            assert lease.holder != dead
            assert rows(db) == ROWS
            [ended] = [r for r in db.history("t") if r.process == dead]
            assert ended.state == "failed"
