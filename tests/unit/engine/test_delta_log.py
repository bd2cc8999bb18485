"""Reading a Delta log by its files alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from streamtables.engine.delta_log import DeltaLog, EntryCache
from streamtables.errors import HistoryGoneError
from streamtables.positions import CommitStamp, Frontier, InputId, RefreshId, Sequence, Version

TABLE = InputId("table-1")


def stamp(sequence: int, refresh: str = "r") -> CommitStamp:
    return CommitStamp(
        TABLE, Sequence(sequence), RefreshId(refresh), Frontier.EMPTY, Frontier.EMPTY, "full", "h"
    )


def add(path: str = "f", *, change: bool = True, rows: int = 1, vector: int = 0) -> dict:
    body: dict = {
        "path": path,
        "size": 10,
        "dataChange": change,
        "stats": json.dumps({"numRecords": rows}),
    }
    if vector:
        body["deletionVector"] = {"cardinality": vector}
    return {"add": body}


def remove(path: str = "f", *, vector: int = 0) -> dict:
    body: dict = {"path": path, "size": 10, "dataChange": True}
    if vector:
        body["deletionVector"] = {"cardinality": vector}
    return {"remove": body}


def commit(place: Path, version: int, *actions: dict, **info: object) -> None:
    folder = place / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{"commitInfo": {"operation": "WRITE", "timestamp": 1000 + version, **info}}, *actions]
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / f"{version:020d}.json").write_text(text, encoding="utf-8")


@pytest.fixture
def place(tmp_path) -> Path:
    commit(
        tmp_path,
        0,
        {"protocol": {"minReaderVersion": 1}},
        {
            "metaData": {
                "id": "abc",
                "schemaString": "{}",
                "partitionColumns": ["p"],
                "configuration": {"delta.enableChangeDataFeed": "true"},
            }
        },
    )
    return tmp_path


@pytest.fixture(params=["path", "uri"])
def log(place, request) -> DeltaLog:
    location = str(place) if request.param == "path" else place.as_uri()
    return DeltaLog(location, cache=EntryCache())


def test_a_folder_without_a_log_has_no_head(tmp_path):
    assert DeltaLog(str(tmp_path)).head() is None
    assert DeltaLog(str(tmp_path / "none")).head(Version(3)) is None


def test_the_head_is_found_from_nothing_and_from_a_known_version(place, log):
    for version in range(1, 4):
        commit(place, version, add())
    assert log.head() == 3
    assert log.head(Version(1)) == 3
    assert log.head(Version(3)) == 3


def test_a_log_that_lost_the_known_version_is_listed(place, log):
    assert log.head(Version(7)) == 0


def test_a_head_that_lives_in_a_checkpoint_only_is_found(place, log):
    folder = place / "_delta_log"
    (folder / f"{5:020d}.checkpoint.parquet").write_bytes(b"")
    (folder / "_last_checkpoint").write_bytes(b"")
    assert log.head() == 5


def test_an_entry_says_what_the_table_is(log):
    entry = log.entry(Version(0))
    assert (entry.table_id, entry.schema_string, entry.partition_columns) == ("abc", "{}", ("p",))
    assert entry.configuration == {"delta.enableChangeDataFeed": "true"}
    assert not entry.changes_rows
    assert not entry.is_maintenance


def test_an_entry_carries_our_stamp_and_transaction(place, log):
    mark = stamp(4)
    commit(place, 1, add(), {"txn": {"appId": TABLE, "version": 4}}, userMetadata=mark.to_json())
    entry = log.entry(Version(1))
    assert entry.stamp == mark
    assert entry.transactions == {TABLE: 4}
    assert entry.changes_rows


def test_metadata_of_others_is_no_stamp(place, log):
    commit(place, 1, add(), userMetadata="nightly load")
    assert log.entry(Version(1)).stamp is None


def test_moving_data_is_maintenance(place, log):
    commit(place, 1, add(change=False), operation="OPTIMIZE")
    entry = log.entry(Version(1))
    assert entry.is_maintenance
    assert not entry.changes_rows


def test_rows_that_went_are_a_change_and_a_property_is_none(place, log):
    commit(place, 1, remove(), {"cdc": {"path": "c", "size": 1}})
    commit(place, 2, operation="SET TBLPROPERTIES")
    assert log.entry(Version(1)).changes_rows
    assert not log.entry(Version(2)).changes_rows


def test_a_missing_version_is_history_gone(place, log):
    commit(place, 2, add())
    with pytest.raises(HistoryGoneError):
        log.entries(Version(0), Version(2))


def test_a_table_made_again_at_the_same_path_is_read_anew(place, log):
    commit(place, 1, add(), operation="FIRST")
    assert log.entry(Version(1)).operation == "FIRST"
    path = place / "_delta_log" / f"{1:020d}.json"
    path.unlink()
    commit(place, 1, add(), operation="OTHER")
    os.utime(path, ns=(1, 1))
    assert log.entry(Version(1)).operation == "OTHER"


def test_rows_are_counted_without_the_deleted_ones(place, log):
    commit(place, 1, add("a", rows=10, vector=3), add("b", rows=5))
    assert log.entry(Version(1)).rows_added == 12
    commit(place, 2, remove("a"))
    assert log.entry(Version(2)).rows_removed is None


def test_metrics_are_numbers(place, log):
    commit(place, 1, add(), operationMetrics={"numOutputRows": "7", "note": "x"})
    assert log.entry(Version(1)).metrics == {"numOutputRows": 7}


HAZARDS = {
    "a file without a vector": ((remove("a"), add("b")), False),
    "a vector that grows": ((remove("a", vector=1), add("a", vector=2)), False),
    "a first vector": ((remove("a"), add("a", vector=2)), False),
    "a removed file with a vector": ((remove("a", vector=1),), True),
    "an added file with a vector": ((add("a", vector=1),), True),
    "a vector that shrinks": ((remove("a", vector=3), add("a", vector=1)), True),
    "with change files": ((remove("a", vector=1), {"cdc": {"path": "c", "size": 1}}), False),
}


@pytest.mark.parametrize("name", HAZARDS)
def test_vectors_that_mislead_a_reader_of_the_feed_are_known(place, log, name):
    actions, hazardous = HAZARDS[name]
    commit(place, 1, *actions)
    assert (log.entry(Version(1)).feed_hazard is not None) == hazardous


def test_a_transaction_is_found_exactly_or_as_the_first_later_one(place, log):
    for version, sequence in enumerate((1, 2, 4), start=1):
        txn = {"txn": {"appId": TABLE, "version": sequence}}
        commit(place, version, add(), txn, userMetadata=stamp(sequence).to_json())
    commit(place, 4, operation="OPTIMIZE")

    def found(sequence: int) -> int | None:
        entry = log.find_transaction(TABLE, Sequence(sequence), upto=Version(4))
        return None if entry is None else entry.version

    assert [found(n) for n in (1, 2, 3, 4, 5)] == [1, 2, 3, 3, None]
