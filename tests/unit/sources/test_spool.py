"""Rows that are too many for memory: the same rows, from files that are gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from streamtables.sources.postgres.spool import Spool, remove_left_behind


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def table(count: int) -> pa.Table:
    texts = [None if n % 7 == 0 else f"row {n}" for n in range(count)]
    return pa.table({"n": pa.array(range(count), pa.int64()), "text": pa.array(texts, pa.string())})


def test_rows_stay_in_memory_while_there_is_room(folder: Path):
    rows = table(1_000)
    with Spool(10 * rows.nbytes) as kept:
        assert kept.keep(rows) is rows
        assert kept.files == 0
        assert list(folder.iterdir()) == []


def test_rows_beyond_it_come_from_files_which_go_at_the_end(folder: Path):
    rows = table(1_000)
    with Spool(int(1.5 * rows.nbytes)) as kept:
        found = [kept.keep(rows) for _ in range(3)]
        assert all(part.equals(rows) for part in found)
        assert kept.files == 2
        assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) == []
    # What is still held can be read all the same.
    assert found[2].equals(rows)


def test_files_go_when_a_drain_fails(folder: Path):
    def fail() -> None:
        with Spool(0) as kept:
            kept.keep(table(10))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_some_rows_are_taken_in_their_order(memory: int):
    rows = pa.concat_tables([table(10), table(25), table(0), table(3)])
    places = np.array([0, 3, 9, 10, 34, 35, 37])
    with Spool(memory) as kept:
        assert kept.taken(rows, places).equals(rows.take(pa.array(places)))
        assert kept.taken(rows, places[:0]).num_rows == 0


@pytest.mark.fault(
    "process",
    "rows wait in files of a process that died",
    step="drain",
    seen="nothing",
    recovery="by itself: the next drain removes the files",
)
def test_what_a_process_that_died_left_behind_is_removed(folder: Path):
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    old = folder / f"streamtables-drain-{died.pid}-old"
    fresh = folder / f"streamtables-drain-{died.pid}-fresh"
    mine = folder / f"streamtables-drain-{os.getpid()}-mine"
    other = folder / "streamtables-drain-other"
    for made in (old, fresh, mine, other):
        made.mkdir()
        (made / "0.arrow").write_bytes(b"x")
    for made in (old, mine, other):
        os.utime(made, (0, 0))
    remove_left_behind()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        path.name for path in (fresh, mine, other)
    )
