"""When tables are tidied up, and for how long their old versions are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Input, Standing, StreamTable
from streamtables.engine import upkeep as jobs
from streamtables.engine.upkeep import Condition
from streamtables.positions import Frontier, RefreshId, Sequence, Version
from streamtables.refresh.upkeep import REMOVE_EVERY, Upkeep, due_jobs
from streamtables.settings import Settings
from tests.unit.catalog.builders import START, stream_table

SETTINGS = Settings(checkpoint_after=4, compact_after=3, retention_hours=48)


def found(entries: int = 0, small_files: int = 0) -> Condition:
    return Condition(Version(9), entries, 10, small_files)


def test_nothing_is_due_before_its_time() -> None:
    assert due_jobs(found(3, 2), SETTINGS, remove=False) == []


def test_files_come_before_the_log_so_that_it_knows_of_them() -> None:
    assert due_jobs(found(4, 3), SETTINGS, remove=True) == ["compact", "checkpoint", "remove"]


@pytest.mark.parametrize("name", ["checkpoint_after", "compact_after", "retention_hours"])
def test_zero_turns_a_job_off(name: str) -> None:
    none = replace(SETTINGS, **{name: 0})  # type: ignore[arg-type]  # each is a number
    assert len(due_jobs(found(1_000, 1_000), none, remove=True)) == 2


def test_a_table_is_looked_at_again_after_as_many_commits() -> None:
    upkeep, table = Upkeep(SETTINGS), stream_table("t")
    assert upkeep.wants(table.id, Version(1))
    upkeep._seen[table.id] = Version(1)
    assert not upkeep.wants(table.id, Version(3))
    assert upkeep.wants(table.id, Version(4))
    off = Upkeep(Settings(checkpoint_after=0, compact_after=0))
    assert not off.wants(table.id, Version(1_000))


@pytest.fixture
def pair(tmp_path: Path) -> tuple[StreamTable, StreamTable]:
    """A table of five commits, and a table that reads it."""
    place = tmp_path / "t"
    for number in range(5):
        write_deltalake(str(place), pa.table({"k": [number]}), mode="append")
    table = replace(stream_table("t"), location=str(place))
    reader = replace(stream_table("r"), inputs=(Input(table.id, "stream-table"),))
    return table, reader


def standing_at(table: StreamTable, version: int) -> Standing:
    at = Frontier({table.id: Version(version)})
    return Standing(Version(1), Sequence(1), RefreshId("r"), at, at, "", START)


def kept(upkeep: Upkeep, pair: tuple[StreamTable, StreamTable], hours: float) -> list[str]:
    table, reader = pair
    definitions = Definitions(1, {}, {item.id: item for item in pair})
    written = DeltaTable(table.location).history()[-1]["timestamp"] / 1000
    now = START.fromtimestamp(written, tz=START.tzinfo) + timedelta(hours=hours)
    standings = {reader.id: standing_at(table, 1)}
    return [item.text for item in upkeep.keep(table, definitions, standings, now, remove=True)]


def test_each_job_says_what_it_did(pair: tuple[StreamTable, StreamTable]) -> None:
    files, log, removed = kept(Upkeep(SETTINGS), pair, hours=1)
    assert files == "5 files became 1"
    assert log == "the log is in one file up to version 5"
    assert removed == "0 files that no version of the last 48 hours needs were removed"


def test_old_versions_stay_for_the_slowest_reader(pair: tuple[StreamTable, StreamTable]) -> None:
    slow = replace(SETTINGS, checkpoint_after=0, compact_after=0)
    [text] = kept(Upkeep(slow), pair, hours=100)
    assert "the last 101 hours" in text or "the last 102 hours" in text


@pytest.mark.parametrize(
    ("hours", "retention", "kept_entries"), [(100, 48, False), (721, 48, True), (1, 0, True)]
)
def test_log_entries_go_unless_a_reader_is_far_behind_or_nothing_is_to_be_removed(
    pair: tuple[StreamTable, StreamTable],
    monkeypatch: pytest.MonkeyPatch,
    hours: float,
    retention: int,
    kept_entries: bool,
) -> None:
    told: list[bool] = []
    monkeypatch.setattr(
        jobs, "write_checkpoint", lambda *_, keep_entries: told.append(keep_entries)
    )
    kept(Upkeep(replace(SETTINGS, compact_after=0, retention_hours=retention)), pair, hours)
    assert told == [kept_entries]


def test_files_are_removed_once_a_day(pair: tuple[StreamTable, StreamTable]) -> None:
    table, _ = pair
    upkeep = Upkeep(replace(SETTINGS, checkpoint_after=0, compact_after=0))
    nothing = Definitions(1, {}, {table.id: table})
    days = [START, START + REMOVE_EVERY / 2, START + REMOVE_EVERY, START + 1.5 * REMOVE_EVERY]
    counts = [len(list(upkeep.keep(table, nothing, {}, now))) for now in days]
    assert counts == [0, 0, 1, 0]


def test_a_table_that_cannot_be_read_is_told_and_not_raised(
    pair: tuple[StreamTable, StreamTable],
) -> None:
    table, _ = pair
    (Path(table.location) / "_delta_log" / f"{4:020d}.json").write_text("no json")
    [done] = Upkeep(SETTINGS).keep(table, Definitions(1, {}, {table.id: table}), {}, START)
    assert done.error is not None
