"""Tables that are put back to a snapshot or tidied up, killed before each step and at any time.

What a killed process did is judged without Spark: DuckDB computes what the rows have to be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.positions import Frontier
from tests.faults import operations
from tests.faults.steps import Operation, killed_after_a_time, killed_at_every_step
from tests.support.delta_tables import DeltaTableFile
from tests.support.moment_judge import MomentJudge
from tests.support.stamped import refreshed, require_sound

pytestmark = [pytest.mark.crash, pytest.mark.slow]

TABLES = {
    "per_a": "SELECT a, count(*) AS n FROM orders GROUP BY a",
    "busy": "SELECT a FROM per_a WHERE n > 1",
}
ROUNDS = 12
LONG_AGO_SECONDS = 40 * 86_400.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A warehouse with two tables, one on the other, and a snapshot from before their last rounds."""
    place = tmp_path / "place"
    orders = DeltaTableFile(place / "orders", {"id": "bigint", "a": "int"}, [(0, 0), (1, 1)])
    with StreamTables(place / "warehouse") as db:
        db.add_source("orders", path=orders.path, key=["id"])
        for name, query in TABLES.items():
            db.create(name, query)
        for number in range(ROUNDS):
            if number == ROUNDS - 4:
                make_older(place / "warehouse" / "tables")
            if number == ROUNDS - 2:
                db.snapshot([*TABLES], label="before")
            refreshed(db)
            orders.append((number + 2, number % 3))
    return place


def make_older(tables: Path) -> None:
    """Make all commits and files of some tables so old that what they removed may go."""
    for entry in tables.glob("*/_delta_log/*.json"):
        lines = [json.loads(line) for line in entry.read_text().splitlines()]
        for one in (part for line in lines for part in line.values()):
            for name in ("deletionTimestamp", "timestamp"):
                if name in one:
                    one[name] -= int(LONG_AGO_SECONDS * 1000)
        entry.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for path in tables.rglob("*"):
        if path.is_file():
            facts = path.stat()
            os.utime(path, (facts.st_atime, facts.st_mtime - LONG_AGO_SECONDS))


def killed(operation: Operation, folder: Path) -> Iterator[int]:
    yield from killed_at_every_step(operation, folder, every=2)
    yield from killed_after_a_time(operation, folder)


@pytest.mark.fault(
    "process",
    "killed while tables are put back to a snapshot",
    step="every second step, and some twenty moments in between",
    seen="each table is as it was or as in the snapshot, with the position that belongs to its rows",
    recovery="by itself: the next refresh leads on from there; `snapshot restore` again to have all of it",
)
def test_a_killed_put_back_left_each_table_at_one_of_both_moments(folder: Path) -> None:
    with StreamTables(folder / "warehouse") as db:
        later = require_sound(db)
        then = {item.table: item.base_frontier for item in db.snapshots()[0].tables}
    found: list[list[bool]] = []
    for _ in killed(operations.put_back_to_snapshot, folder):
        with StreamTables(folder / "warehouse") as db:
            assert db._catalog.running_refreshes() == ()
            found.append(_are_put_back(require_sound(db), later, then))
            if found[-1] not in found[:-1]:
                _require_going_on(db, then)
    assert found[0] == [False, False]
    assert found[-1] == [True, True]
    assert [True, False] in found


def _require_going_on(db: StreamTables, then: dict[str, Frontier]) -> None:
    """All can be put back, and brought forward again."""
    db.restore_snapshot("before")
    assert require_sound(db) == then
    for table in db.stream_tables():
        MomentJudge(db).require_own_log(table)
    refreshed(db)
    require_sound(db)


def _are_put_back(
    found: dict[str, Frontier], later: dict[str, Frontier], then: dict[str, Frontier]
) -> list[bool]:
    for name, frontier in found.items():
        assert frontier in (later[name], then[name])
    return [found[name] == then[name] for name in TABLES]


@pytest.mark.fault(
    "process",
    "killed while tables are tidied up",
    step="every second step, and some twenty moments in between",
    seen="nothing: the rows, and the changes that readers have yet to take, are as they were",
    recovery="by itself: the next tidying up does the rest",
)
def test_a_killed_tidying_up_changes_no_row_and_is_done_by_the_next(folder: Path) -> None:
    with StreamTables(folder / "warehouse") as db:
        before = require_sound(db)
    left = [_files(folder)]
    for _ in killed(operations.tidy_up, folder):
        left.append(_files(folder))
        with StreamTables(folder / "warehouse") as db:
            _require_same(db, before)
        if left[-1] in left[:-1]:
            continue
        operations.tidy_up(folder)
        assert _files(folder) < left[0]
        with StreamTables(folder / "warehouse") as db:
            _require_same(db, before)
            refreshed(db)
            require_sound(db)
    assert left[1] == left[0] > left[-1]


def _require_same(db: StreamTables, before: dict[str, Frontier]) -> None:
    assert require_sound(db) == before
    _require_snapshot(db)
    assert [item.code for item in db.health_check() if item.severity == "error"] == []


def _require_snapshot(db: StreamTables) -> None:
    """The files that a label keeps are there: its tables have the rows of then."""
    judge = MomentJudge(db)
    judge.require_equal(
        move
        for move in db._catalog.epoch_moves([table.id for table in db.stream_tables()])
        if move.epoch == db.snapshots()[0].epoch
    )


def _files(folder: Path) -> int:
    tables = folder / "warehouse" / "tables"
    return sum(1 for path in tables.rglob("*") if path.is_file())
