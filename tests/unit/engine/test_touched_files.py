"""Which files a change touches, from their statistics alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.touched_files import all_files, touched_files


@pytest.fixture
def handle(tmp_path: Path) -> SmallHandle:
    """Four files: ids 0-9, 10-19, 20-29 and only NULLs; names by tens."""
    for start in (0, 10, 20):
        ids = list(range(start, start + 10))
        rows = pa.table({"id": ids, "name": [f"n{i:02}" for i in ids]})
        write_deltalake(str(tmp_path / "t"), rows, mode="append")
    nothing = pa.table({"id": pa.nulls(2, pa.int64()), "name": pa.nulls(2, pa.string())})
    write_deltalake(str(tmp_path / "t"), nothing, mode="append")
    return SmallHandle.open(str(tmp_path / "t"), 3)


def count(handle: SmallHandle, **columns: list[object]) -> int:
    return touched_files(handle, pa.table(columns)).count


def test_a_file_without_bounds_may_hold_anything(handle: SmallHandle) -> None:
    assert count(handle, id=[5]) == 1 + 1


def test_keys_between_the_files_touch_none_of_them(handle: SmallHandle) -> None:
    assert count(handle, id=[-1, 30, 1_000]) == 1
    assert count(handle, id=[9, 10]) == 2 + 1


def test_every_column_must_agree(handle: SmallHandle) -> None:
    assert count(handle, id=[5], name=["n15"]) == 1
    assert count(handle, id=[15], name=["n15"]) == 1 + 1


def test_a_null_may_stand_anywhere(handle: SmallHandle) -> None:
    assert count(handle, id=pa.array([None], pa.int64())) == 4


def test_a_column_without_statistics_rules_nothing_out(handle: SmallHandle) -> None:
    assert count(handle, other=[1]) == 4
    assert touched_files(handle, pa.table({"other": [1]})) == all_files(handle)
