"""Rows of data files are counted once their file is whole."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from streamtables.engine.landed_rows import LandedRows


def write(path: Path, rows: int) -> None:
    parquet.write_table(pa.table({"id": list(range(rows))}), path)


def test_files_count_when_they_are_whole(tmp_path: Path) -> None:
    landed = LandedRows(str(tmp_path / "t"))
    assert landed.count() == 0
    folder = tmp_path / "t"
    (folder / "_delta_log").mkdir(parents=True)
    write(folder / "part-0.parquet", 3)
    whole = tmp_path / "whole"
    write(whole, 40)
    (folder / "part-1.parquet").write_bytes(whole.read_bytes()[:-10])
    (folder / "part-2.parquet").touch()
    write(folder / ".part-3.parquet", 500)
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    assert landed.count() == 3
    whole.rename(folder / "part-1.parquet")
    assert landed.count() == 43


def test_a_uri_of_the_disk_is_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "part-0.parquet", 2)
    assert LandedRows(tmp_path.as_uri()).count() == 2


def test_a_storage_that_cannot_be_seen_has_no_count() -> None:
    assert LandedRows("nowhere://bucket/t").count() is None
