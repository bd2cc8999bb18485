"""Disks that are full or read-only, and files that are gone or cut: told, and nothing wrong."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import EnvironmentFaultError, HistoryGoneError
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import assert_equal_to_query

QUERY = "SELECT a, max(id) AS last, count(*) AS n FROM t GROUP BY a"
COLUMNS = {"id": "bigint", "a": "int"}


@pytest.fixture
def source(tmp_path: Path) -> DeltaTableFile:
    return DeltaTableFile(tmp_path / "t", COLUMNS, [(n, n % 3) for n in range(9)])


@pytest.fixture
def disk(db: StreamTables) -> Iterator[Path]:
    """A small disk for the stream tables alone."""
    folder = db.warehouse / "tables"
    folder.mkdir()
    if _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)):
        pytest.skip("only who may mount can fill a disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*words: str) -> int:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode


@pytest.fixture
def table(db: StreamTables, source: DeltaTableFile) -> Path:
    """A stream table with rows, and a change that it lacks."""
    return filled(db, source)


def filled(db: StreamTables, source: DeltaTableFile) -> Path:
    db.add_source("t", path=source.path, key=["id"])
    created = db.create("s", QUERY)
    db.refresh("s")
    source.append((20, 1))
    return Path(created.location)


def rows(db: StreamTables) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in db.read_rows("s", 100).to_pylist())


def went_on(db: StreamTables, source: DeltaTableFile) -> None:
    """The next refreshes do all that was owed."""
    db.refresh("s")
    assert_equal_to_query(db, "s")
    source.append((21, 2))
    db.refresh("s")
    assert_equal_to_query(db, "s")


def fill_up(file: Path) -> None:
    """Take all the room that is left on a disk."""
    with file.open("wb", buffering=0) as opened:
        while True:
            opened.write(b"x" * 4096)


@pytest.mark.fault(
    "files",
    "the disk of the warehouse is full",
    step="a refresh writes, by changes or in full",
    seen="the refresh fails with ST-4001; the table is as it was; `health` warns below 5 %",
    recovery="make room; the scheduler tries again by itself",
)
@pytest.mark.parametrize("full", [False, True], ids=["by-changes", "full"])
def test_a_full_disk_changes_nothing(
    db: StreamTables, source: DeltaTableFile, disk: Path, full: bool
) -> None:
    filled(db, source)
    before, taken = rows(db), disk / "taken"
    with pytest.raises(OSError, match="No space"):
        fill_up(taken)
    with pytest.raises(EnvironmentFaultError, match="cannot write") as caught:
        db.refresh("s", full=full)
    assert "No space left" in caught.value.detail
    assert rows(db) == before
    taken.unlink()
    went_on(db, source)


@pytest.mark.fault(
    "files",
    "the disk of the warehouse is read-only",
    step="a refresh writes, by changes and in full",
    seen="the refresh fails with ST-4001; the table is as it was",
    recovery="make it writable; the scheduler tries again by itself",
)
def test_a_read_only_disk_changes_nothing(
    db: StreamTables, source: DeltaTableFile, disk: Path
) -> None:
    filled(db, source)
    before = rows(db)
    assert _mount("-o", "remount,ro", str(disk)) == 0
    for full in (False, True):
        with pytest.raises(EnvironmentFaultError, match="cannot write"):
            db.refresh("s", full=full)
    assert rows(db) == before
    assert _mount("-o", "remount,rw", str(disk)) == 0
    went_on(db, source)


def hurt(folder: Path, how: str) -> None:
    """Take the data files of a table away, or most of their bytes."""
    for file in folder.glob("*.parquet"):
        if how == "gone":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:100])


@pytest.mark.fault(
    "files",
    "data files of a source are gone or cut",
    step="a refresh that has to read them",
    seen="the refresh fails with ST-2001, which names the file; the table is as it was",
    recovery="bring the files back; the scheduler tries again by itself",
)
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_files_of_a_source_that_cannot_be_read(
    db: StreamTables, source: DeltaTableFile, table: Path, tmp_path: Path, how: str
) -> None:
    before, folder = rows(db), Path(source.path)
    shutil.copytree(folder, tmp_path / "kept")
    hurt(folder, how)
    with pytest.raises(HistoryGoneError) as caught:
        db.refresh("s")
    assert ".parquet" in caught.value.detail
    assert rows(db) == before
    assert db.stream_tables()[0].state == "active"
    shutil.copytree(tmp_path / "kept", folder, dirs_exist_ok=True)
    went_on(db, source)


@pytest.mark.fault(
    "files",
    "data files of a stream table are gone or cut",
    step="a refresh by changes",
    seen="a full refresh, with the reason",
    recovery="by itself",
)
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_files_of_a_stream_table_that_cannot_be_read_are_made_anew(
    db: StreamTables, source: DeltaTableFile, table: Path, how: str
) -> None:
    hurt(table, how)
    result = db.refresh("s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    went_on(db, source)


@pytest.mark.fault(
    "files",
    "data files of a stream table are cut, and nothing changes",
    step="none: found by `verify` (ST-2001), or by a reader",
    seen="an error of whoever reads the table",
    recovery="`streamtables repair NAME`",
)
def test_files_that_cannot_be_read_are_repaired_by_the_one_command(
    db: StreamTables, source: DeltaTableFile, table: Path
) -> None:
    db.refresh("s")
    hurt(table, "cut")
    with pytest.raises(HistoryGoneError):
        db.verify("s")
    assert db.refresh("s").outcome == "no-change"
    assert db.repair("s").outcome == "applied"
    went_on(db, source)
