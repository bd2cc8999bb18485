"""Jobs that keep a table quick and small: the rows, their history and NaN stay as they were."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from streamtables.engine import upkeep
from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import CommitConflictError, EnvironmentFaultError
from streamtables.positions import Version


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Ten commits: rows that came one by one, and two that were replaced."""
    place = tmp_path / "t"
    for number in range(8):
        rows = pa.table({"k": [number], "x": [float("nan") if number == 3 else float(number)]})
        write_deltalake(
            str(place), rows, mode="append", configuration={"delta.enableChangeDataFeed": "true"}
        )
    for number in range(2):
        rows = pa.table({"k": [number], "x": [-1.0]})
        write_deltalake(str(place), rows, mode="overwrite", predicate=f"k = {number}")
    return place


def rows_of(place: Path, version: int | None = None) -> list[tuple[int, str]]:
    rows = pa.table(DeltaTable(str(place), version=version).to_pyarrow_table())
    return sorted((row["k"], str(row["x"])) for row in rows.to_pylist())


def test_the_condition_tells_what_is_due(table: Path) -> None:
    found = upkeep.condition(str(table))
    assert found == upkeep.Condition(Version(9), 10, 8, 8)
    upkeep.write_checkpoint(str(table), Version(9))
    after = upkeep.condition(str(table))
    assert after is not None
    assert after.entries == 0


def test_no_table_has_no_condition(tmp_path: Path) -> None:
    assert upkeep.condition(str(tmp_path / "none")) is None


def aged_entries(place: Path, days: int) -> list[Path]:
    """Make all log entries so many days older, and return them."""
    entries = sorted((place / "_delta_log").glob("*.json"))
    for path in entries:
        facts = path.stat()
        os.utime(path, (facts.st_atime, facts.st_mtime - days * 86_400))
    return entries


def test_log_entries_past_their_retention_go_with_a_checkpoint(table: Path) -> None:
    before, entries = rows_of(table), aged_entries(table, 31)
    upkeep.write_checkpoint(str(table), Version(9))
    assert [path for path in entries if path.exists()] == entries[-1:]
    assert rows_of(table) == before
    assert DeltaLog(str(table)).head() == Version(9)


def test_log_entries_within_their_retention_stay(table: Path) -> None:
    entries = aged_entries(table, 29)
    upkeep.write_checkpoint(str(table), Version(9))
    assert all(path.exists() for path in entries)


def test_log_entries_stay_where_a_reader_or_the_table_needs_them(table: Path) -> None:
    entries = aged_entries(table, 31)
    upkeep.write_checkpoint(str(table), Version(9), keep_entries=True)
    assert all(path.exists() for path in entries)
    forbidden = {"delta.enableExpiredLogCleanup": "false"}
    DeltaTable(str(table)).alter.set_table_properties(forbidden)
    upkeep.write_checkpoint(str(table), Version(10))
    assert all(path.exists() for path in entries)


def test_an_unreadable_hint_counts_as_no_checkpoint(table: Path) -> None:
    upkeep.write_checkpoint(str(table), Version(9))
    (table / "_delta_log" / "_last_checkpoint").write_text("{broken")
    found = upkeep.condition(str(table))
    assert found is not None
    assert found.entries == 10


def test_small_files_become_one_and_no_row_changes(table: Path) -> None:
    before = rows_of(table)
    assert upkeep.compact(str(table), Version(9)) == (8, 1)
    assert rows_of(table) == before
    entry = DeltaLog(str(table)).entry(Version(10))
    assert entry is not None
    assert entry.is_maintenance
    statistics = pa.table(DeltaTable(str(table)).get_add_actions(flatten=True))
    assert statistics.column("max.k").to_pylist() == [7]
    # Bounds that leave NaN out would hide it from readers.
    assert statistics.column("max.x").to_pylist() == [None]


def test_a_commit_in_between_wins_over_putting_files_together(table: Path) -> None:
    write_deltalake(
        str(table), pa.table({"k": [0], "x": [9.0]}), mode="overwrite", predicate="k = 0"
    )
    with pytest.raises(CommitConflictError):
        upkeep.compact(str(table), Version(9))


def test_only_what_no_recent_version_needs_is_removed(table: Path) -> None:
    assert upkeep.remove_unused(str(table), Version(9), 1) == 0
    assert DeltaLog(str(table)).head() == Version(9)
    assert rows_of(table, 7)
    long_ago = 2 * 3600
    for path in table.rglob("*.parquet"):
        facts = path.stat()
        os.utime(path, (facts.st_atime - long_ago, facts.st_mtime - long_ago))
    before = rows_of(table)
    head = DeltaLog(str(table)).head()
    assert head is not None
    assert upkeep.remove_unused(str(table), head, 0) > 0
    assert rows_of(table) == before
    assert not list((table / "_change_data").glob("*.parquet"))


def test_a_table_that_cannot_be_opened_is_an_error_with_its_reason(table: Path) -> None:
    (table / "_delta_log" / f"{9:020d}.json").write_text("no json")
    with pytest.raises(EnvironmentFaultError) as caught:
        upkeep.write_checkpoint(str(table), Version(9))
    assert caught.value.detail
