"""How many rows a commit changed, from its log entry alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_entry import LogEntry
from streamtables.positions import Version

ROWS = 20_000


@pytest.fixture
def table(tmp_path: Path) -> str:
    place = str(tmp_path / "t")
    rows = pa.table({"k": list(range(ROWS)), "x": [i * 7919 % ROWS for i in range(ROWS)]})
    write_deltalake(place, rows, configuration={"delta.enableChangeDataFeed": "true"})
    return place


def last(place: str) -> LogEntry:
    entry = DeltaLog(place).entry(Version(DeltaTable(place).version()))
    assert entry is not None
    return entry


def test_rows_that_came(table: str) -> None:
    assert last(table).changed_rows == ROWS


def test_an_update_is_a_row_that_went_and_one_that_came(table: str) -> None:
    DeltaTable(table).update(predicate="k < 10", updates={"x": "0"})
    assert last(table).changed_rows == 20


def test_rows_that_went(table: str) -> None:
    DeltaTable(table).delete("k < 10")
    assert last(table).changed_rows == 10


def test_rows_in_the_place_of_others_are_known_by_the_size_of_the_change(table: str) -> None:
    half = pa.table({"k": list(range(ROWS // 2)), "x": list(range(1, ROWS // 2 + 1))})
    write_deltalake(table, half, mode="overwrite", predicate=f"k < {ROWS // 2}")
    assert last(table).changed_rows == pytest.approx(ROWS, rel=0.6)


def test_files_put_together_change_nothing(table: str) -> None:
    write_deltalake(table, pa.table({"k": [-1], "x": [0]}), mode="append")
    DeltaTable(table).optimize.compact()
    assert last(table).changed_rows == 0
