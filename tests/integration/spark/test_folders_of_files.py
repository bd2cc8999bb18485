"""Folders of files as sources: each file counts once, and what is not new is never passed over."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.models import Source
from streamtables.engine.session import SparkSessions
from streamtables.errors import (
    ConfigError,
    InUseError,
    SourceMissingError,
    SourceUnusableError,
    StreamTablesError,
    TransientError,
)
from streamtables.positions import CommitStamp
from streamtables.refresh.results import Refresh
from streamtables.sources.files.listing import Listing
from streamtables.sources.files.taken import keep_listing, last_take
from tests.support.bags import bag_of
from tests.support.killed_child import killed_child
from tests.support.moved_clock import Clock
from tests.support.spark_oracle import assert_verified, stored_bag

QUERY = "SELECT city, count(*) AS n, sum(amount) AS total FROM orders GROUP BY city"
SCHEMA = "id INT, city STRING, amount DOUBLE"


@dataclass
class Landing:
    """A folder into which somebody writes files; the judge reads it with Spark and nothing else."""

    db: StreamTables
    folder: Path
    format: str = "csv"
    options: dict[str, str] = field(default_factory=lambda: {"header": "true"})
    schema: str = SCHEMA

    def put(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return path

    def orders(self, name: str, *rows: str) -> Path:
        return self.put(name, "id,city,amount", *rows)

    def asked(self, query: str = QUERY) -> dict:
        spark = self.db.spark.newSession()
        reader = spark.read.format(self.format).schema(self.schema).options(**self.options)
        reader.option("recursiveFileLookup", "true").load(str(self.folder)).createTempView("orders")
        return bag_of([tuple(row) for row in spark.sql(query).collect()])

    def refreshed(self, name: str = "cities") -> Refresh:
        """Refresh a table, and compare it with its query over the files as they are."""
        [table] = [item for item in self.db.stream_tables() if item.name == name]
        result = self.db.refresh(name)
        assert stored_bag(self.db, name) == self.asked(table.query)
        assert_verified(self.db, name)
        return result


@pytest.fixture
def landing(db: StreamTables, tmp_path: Path) -> Landing:
    landing = Landing(db, tmp_path / "landing")
    landing.orders("day1.csv", "1,Oslo,10.5", "2,Bergen,3", "3,Oslo,2.5")
    return landing


@pytest.fixture
def cities(db: StreamTables, landing: Landing) -> Landing:
    db.add_source("orders", files=landing.folder)
    db.create("cities", QUERY)
    assert landing.refreshed().mode == "full"
    return landing


def events(db: StreamTables) -> list[str]:
    return [event.text for event in db.events() if event.kind == "resnapshot"]


def test_new_files_are_changes_and_nothing_new_is_none(db: StreamTables, cities: Landing) -> None:
    assert cities.refreshed().reason.code == "current"
    cities.orders("day2.csv", "4,Oslo,1", "5,Bodø,7")
    cities.orders("deeper/day3.csv", "6,Bodø,1")
    result = cities.refreshed()
    assert (result.mode, result.rows_inserted) == ("differential", 2)
    assert cities.refreshed().reason.code == "current"
    assert events(db) == []
    assert [lag.standing for lag in db.lags()] == ["current"]
    os.utime(cities.orders("day4.csv", "7,Moss,1"), (1_700_000_000, 1_700_000_000))
    [lag] = db.lags()
    assert (lag.standing, (lag.lag_seconds or 0) > 3600) == ("behind", True)
    cities.refreshed()
    [source] = db.sources()
    assert source.kind == "files"
    assert [column.name for column in source.columns] == ["id", "city", "amount"]
    assert db.source_places() == {"orders": str(cities.folder)}


@pytest.mark.fault(
    "files",
    "a file of a folder that is a source changes or goes",
    step="refresh",
    seen="an event with the name of the file; the rows are those of the files that are there",
    recovery="by itself: all files are read anew",
)
def test_a_changed_or_vanished_file_is_read_anew_with_its_reason(
    db: StreamTables, cities: Landing
) -> None:
    path = cities.orders("day2.csv", "4,Oslo,1")
    cities.refreshed()
    cities.orders("day2.csv", "4,Oslo,2", "9,Oslo,3")
    cities.refreshed()
    assert events(db) == ['the file "day2.csv" changed']
    path.unlink()
    cities.orders("day3.csv", "5,Moss,5")
    cities.refreshed()
    assert events(db)[0] == 'the file "day2.csv" is gone'
    assert cities.refreshed().reason.code == "current"
    for file in cities.folder.iterdir():
        file.unlink()
    assert cities.db.refresh("cities").rows_deleted > 0
    assert stored_bag(db, "cities") == {}


@pytest.mark.fault(
    "files",
    "a file of a folder that is a source is broken",
    step="refresh",
    seen="the refresh fails with ST-1404 and the name of the file; no file of that look is taken",
    recovery="mend the file or take it away, then refresh",
)
def test_a_broken_file_stops_the_source_and_no_part_of_it_is_taken(
    db: StreamTables, cities: Landing
) -> None:
    before = stored_bag(db, "cities")
    cities.orders("day2.csv", "4,Oslo,1")
    bad = cities.orders("day3.csv", "5,Oslo,8", "six,Oslo,9")
    with pytest.raises(SourceUnusableError, match="orders") as caught:
        db.refresh("cities")
    assert "six" in str(caught.value.detail) or "day3.csv" in str(caught.value.detail)
    assert stored_bag(db, "cities") == before
    bad.unlink()
    cities.refreshed()
    cities.put("day4.csv", "id,amount,city", "7,3,Oslo")
    with pytest.raises(SourceUnusableError):
        db.refresh("cities")
    (cities.folder / "day4.csv").unlink()
    assert cities.refreshed().reason.code == "current"
    assert events(db) == []


def test_a_folder_that_is_gone_is_an_error_and_not_the_end_of_all_rows(
    db: StreamTables, cities: Landing, tmp_path: Path
) -> None:
    before = stored_bag(db, "cities")
    cities.folder.rename(tmp_path / "away")
    with pytest.raises(SourceMissingError, match="landing"):
        db.refresh("cities")
    assert stored_bag(db, "cities") == before
    (tmp_path / "away").rename(cities.folder)
    assert cities.refreshed().reason.code == "current"


def test_names_that_look_like_patterns_and_names_that_are_no_data(
    db: StreamTables, cities: Landing
) -> None:
    cities.orders("day[2] {a,b} *?.csv", "4,Oslo,1")
    cities.orders("day2 a.csv", "5,Oslo,100")
    assert cities.refreshed().mode == "differential"
    cities.orders("_SUCCESS", "6,Oslo,1")
    cities.orders(".day7.csv", "7,Oslo,1")
    cities.orders("_temporary/0/day8.csv", "8,Oslo,1")
    cities.orders("day9.csv._COPYING_", "9,Oslo,1")
    assert db.refresh("cities").reason.code == "current"


def test_a_file_without_rows_is_taken_once(db: StreamTables, cities: Landing) -> None:
    cities.orders("empty.csv")
    cities.refreshed()
    head = DeltaTable(db.sources()[0].location).version()
    cities.refreshed()
    assert DeltaTable(db.sources()[0].location).version() == head


def test_folders_of_partitions_are_columns(db: StreamTables, tmp_path: Path) -> None:
    landing = Landing(db, tmp_path / "events")
    landing.put("day=2026-01-01/kind=a/1.csv", "id,amount", "1,5")
    db.add_source("events", files=landing.folder)
    assert {c.name: c.type for c in db.sources()[0].columns} == {
        "id": "int",
        "amount": "int",
        "day": "date",
        "kind": "string",
    }
    db.create("days", "SELECT day, kind, sum(amount) AS total FROM events GROUP BY day, kind")
    db.refresh("days")
    landing.put("day=2026-01-02/kind=7/1.csv", "id,amount", "2,6")
    assert db.refresh("days").mode == "differential"
    assert_verified(db, "days")
    assert {str(row[0]): row[1:] for row in stored_bag(db, "days")} == {
        "2026-01-01": ("a", 5),
        "2026-01-02": ("7", 6),
    }
    landing.put("day=never/kind=7/1.csv", "id,amount", "2,6")
    with pytest.raises(SourceUnusableError):
        db.refresh("days")


def test_json_files_bring_new_columns_along(db: StreamTables, tmp_path: Path) -> None:
    landing = Landing(
        db, tmp_path / "json", "json", {}, "id BIGINT, city STRING, amount DOUBLE, tags STRING"
    )
    first = [{"id": number, "city": "Oslo", "amount": 1.5} for number in range(100, 140)]
    landing.put("1.jsonl", *map(json.dumps, first))
    db.add_source("orders", files=landing.folder)
    db.create("cities", QUERY)
    landing.refreshed()
    landing.put("2.jsonl", json.dumps({"id": 2, "city": "Oslo", "amount": 2.5, "tags": "new"}))
    assert landing.refreshed().mode == "differential"
    assert "tags" in [column.name for column in db.sources()[0].columns]
    db.create("tagged", "SELECT id, tags FROM orders")
    landing.refreshed("tagged")
    landing.put("3.jsonl", json.dumps({"id": 3, "city": "Moss"}))
    assert landing.refreshed("tagged").mode == "differential"
    landing.put("4.jsonl", json.dumps({"id": "four", "city": "Moss"}))
    with pytest.raises(SourceUnusableError):
        db.refresh("tagged")


def test_parquet_files_with_other_types_are_refused(db: StreamTables, tmp_path: Path) -> None:
    landing = Landing(db, tmp_path / "parquet", "parquet", {}, "id BIGINT, city STRING")
    landing.folder.mkdir()
    pq.write_table(pa.table({"id": [1, 2], "city": ["Oslo", None]}), landing.folder / "a.parquet")
    db.add_source("orders", files=landing.folder)
    db.create("all_orders", "SELECT id, city FROM orders")
    landing.refreshed("all_orders")
    pq.write_table(pa.table({"city": ["Bodø"], "id": [3]}), landing.folder / "b.parquet")
    assert landing.refreshed("all_orders").mode == "differential"
    pq.write_table(pa.table({"id": ["x"], "city": ["Bodø"]}), landing.folder / "c.parquet")
    with pytest.raises(SourceUnusableError):
        db.refresh("all_orders")
    (landing.folder / "c.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(SourceUnusableError):
        db.refresh("all_orders")
    (landing.folder / "c.parquet").unlink()
    assert landing.refreshed("all_orders").reason.code == "current"


def test_columns_that_a_person_gives_hold_for_an_empty_folder(
    db: StreamTables, tmp_path: Path
) -> None:
    landing = Landing(db, tmp_path / "later", options={"header": "true", "sep": ";"})
    landing.folder.mkdir()
    db.add_source(
        "orders",
        files=landing.folder,
        format="csv",
        schema=SCHEMA,
        pattern="*.txt",
        options={"sep": ";"},
    )
    db.create("cities", QUERY)
    landing.refreshed()
    landing.put("a.txt", "id;city;amount", "1;Oslo;2")
    assert landing.refreshed().mode == "differential"
    (landing.folder / "a.csv").write_text("not for us")
    assert db.refresh("cities").reason.code == "current"


BAD: dict[str, tuple[dict[str, Any], type[StreamTablesError]]] = {
    "no such folder": (dict(files="nowhere"), SourceUnusableError),
    "no such folder, with a format": (
        dict(files="nowhere", format="csv", schema=SCHEMA),
        SourceUnusableError,
    ),
    "an empty folder": (dict(files="empty", format="csv"), ConfigError),
    "no format to be seen": (dict(files="empty"), ConfigError),
    "a format that is none": (dict(files="landing", format="xlsx"), ConfigError),
    "a path beside": (dict(files="landing", path="x"), ConfigError),
    "a key": (dict(files="landing", key="id"), ConfigError),
    "an option that chooses files": (
        dict(files="landing", options={"pathGlobFilter": "*"}),
        ConfigError,
    ),
    "a pattern with a folder": (dict(files="landing", pattern="a/*.csv"), ConfigError),
    "a schema that is none": (dict(files="landing", schema="id NOTYPE"), SourceUnusableError),
    "a schema that is not theirs": (dict(files="landing", schema="a INT"), SourceUnusableError),
    "options of files without files": (dict(path="landing", format="csv"), ConfigError),
    "a column of ours": (dict(files="ours"), SourceUnusableError),
    "a column that Delta refuses": (dict(files="spaced"), SourceUnusableError),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_added_leaves_nothing_behind(
    db: StreamTables, landing: Landing, tmp_path: Path, case: str, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    landing.put("../ours/a.csv", "__st_weight", "1")
    landing.put("../spaced/a.csv", "first name", "1")
    arguments, error = BAD[case]
    with pytest.raises(error) as caught:
        db.add_source("orders", **arguments)
    assert caught.value.hint or caught.value.detail
    assert db.sources() == []
    mirrors = Path(db.warehouse) / "mirrors"
    assert not mirrors.exists() or list(mirrors.iterdir()) == []


def test_dropping_takes_the_copy_and_leaves_the_files(db: StreamTables, cities: Landing) -> None:
    [source] = db.sources()
    with pytest.raises(InUseError):
        db.drop_source("orders")
    db.drop("cities")
    db.drop_source("orders")
    assert not os.path.exists(source.location)
    assert (cities.folder / "day1.csv").exists()


def test_nobody_writes_to_files_through_this_package(db: StreamTables, cities: Landing) -> None:
    with pytest.raises(ConfigError, match="is a folder of files"):
        db.write("orders", [{"id": 1, "city": "Oslo", "amount": 1.0}])
    with pytest.raises(ConfigError, match="is a folder of files"):
        db.create("at_once", QUERY, mode="immediate")


@pytest.mark.fault(
    "files",
    "somebody writes to the copy of a folder's files, or it is lost",
    step="refresh",
    seen="an event with the version that is not ours, or that the copy is gone",
    recovery="by itself: all files are read anew",
)
def test_a_copy_that_was_touched_or_lost_is_made_anew(db: StreamTables, cities: Landing) -> None:
    [source] = db.sources()
    table = DeltaTable(source.location)
    write_deltalake(table, table.to_pyarrow_table().slice(0, 1), mode="append")
    cities.refreshed()
    assert "somebody else wrote version" in events(db)[0]
    shutil.rmtree(source.location)
    cities.refreshed()
    assert "its copy here is gone" in events(db)[0]
    cities.orders("day2.csv", "4,Oslo,1")
    assert cities.refreshed().mode == "differential"


def test_a_listing_that_is_lost_means_to_read_all_files_anew(
    db: StreamTables, cities: Landing
) -> None:
    [source] = db.sources()
    for kept in (Path(source.location) / "_taken").iterdir():
        kept.write_bytes(kept.read_bytes()[:20])
    cities.refreshed()
    assert events(db) == ["what was taken of it is no longer known"]
    cities.orders("day2.csv", "4,Oslo,1")
    cities.refreshed()
    assert len(events(db)) == 1


def test_what_was_taken_outlives_the_log(db: StreamTables, cities: Landing) -> None:
    cities.orders("day2.csv", "4,Oslo,1")
    cities.refreshed()
    [source] = db.sources()
    table = DeltaTable(source.location)
    table.alter.set_table_properties({"delta.logRetentionDuration": "interval 30 days"})
    table.create_checkpoint()
    for version in range(table.version()):
        (Path(source.location) / "_delta_log" / f"{version:020d}.json").unlink()
    last = last_take(source)
    assert (last.lost, list(last.listing or {})) == ("", ["day1.csv", "day2.csv"])
    cities.orders("day3.csv", "5,Oslo,1")
    cities.refreshed()
    assert events(db) == []


def test_tidying_up_leaves_what_was_taken_alone(db: StreamTables, cities: Landing) -> None:
    for day in range(2, 6):
        cities.orders(f"day{day}.csv", f"{day},Oslo,1")
        cities.refreshed()
    [source] = db.sources()
    kept = list((Path(source.location) / "_taken").iterdir())
    assert len(kept) == 1
    db.maintain()
    with_spark = db.spark
    with_spark.sql(f"OPTIMIZE delta.`{source.location}`")
    with_spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        with_spark.sql(f"VACUUM delta.`{source.location}` RETAIN 0 HOURS")
    finally:
        with_spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    DeltaTable(source.location).vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert list((Path(source.location) / "_taken").iterdir()) == kept
    cities.orders("day9.csv", "9,Oslo,1")
    cities.refreshed()
    assert events(db) == []


KILLED = """
import sys
import streamtables
with streamtables.connect(sys.argv[1]) as db:
    db.refresh("cities")
"""


@pytest.mark.crash
@pytest.mark.parametrize("boundary", ["files-listed", "files-taken"])
@pytest.mark.fault(
    "files",
    "killed while files are taken",
    step="before and after the commit",
    seen="the rows are as they were, or have all new files",
    recovery="by itself: the next refresh takes what is not taken, once",
)
def test_a_killed_take_is_whole_or_did_not_happen(
    db: StreamTables, cities: Landing, boundary: str
) -> None:
    cities.orders("day2.csv", "4,Oslo,1", "5,Bodø,1")
    killed_child(KILLED, Path(db.warehouse), boundary)
    cities.refreshed()
    cities.orders("day3.csv", "6,Oslo,1")
    cities.refreshed()
    assert events(db) == []


def test_of_two_processes_that_take_at_once_each_file_counts_once(
    db: StreamTables, cities: Landing, monkeypatch
) -> None:
    """The other one takes between the look of this one and its commit."""
    cities.orders("day2.csv", "4,Oslo,1")
    raced: list[int] = []

    def keep(source: Source, stamp: CommitStamp, listing: Listing) -> None:
        keep_listing(source, stamp, listing)
        if not raced:
            raced.append(stamp.sequence)
            cities.orders("day3.csv", "5,Oslo,1")
            with StreamTables(db.warehouse, spark=db.spark) as other:
                other.refresh("cities")

    monkeypatch.setattr("streamtables.sources.files.folders.keep_listing", keep)
    cities.refreshed()
    assert raced
    assert events(db) == []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(spark_sessions: SparkSessions, tmp_path: Path, clock: Clock) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "timed", spark=spark_sessions.get(), clock=clock) as opened:
        yield opened


def test_the_scheduler_follows_a_folder(timed: StreamTables, clock: Clock, tmp_path: Path) -> None:
    landing = Landing(timed, tmp_path / "landing")
    landing.orders("day1.csv", "1,Oslo,1.5")
    timed.add_source("orders", files=landing.folder)
    timed.create("cities", QUERY, schedule="on change")
    timed.create("hourly", QUERY, schedule="1 hour")
    assert sorted(result.table for result in timed.tick()) == ["cities", "hourly"]
    timed.tick()
    for _ in range(2):
        clock.forward(5)
        before = timed._catalog.queries
        assert timed.tick() == []
        assert timed._catalog.queries == before + 1
    landing.orders("day2.csv", "2,Oslo,1")
    clock.forward(5)
    assert [(r.table, r.mode) for r in timed.tick()] == [("cities", "differential")]
    assert stored_bag(timed, "cities") == landing.asked()
    clock.forward(5)
    assert timed.tick() == []
    landing.orders("day2.csv", "2,Oslo,5")
    clock.forward(5)
    assert [result.table for result in timed.tick()] == ["cities"]
    assert stored_bag(timed, "cities") == landing.asked()
    clock.forward(5)
    assert timed.tick() == []
    landing.folder.rename(tmp_path / "away")
    clock.forward(5)
    [failed] = timed.tick()
    assert failed.outcome == "failed"
    (tmp_path / "away").rename(landing.folder)
    landing.orders("day3.csv", "3,Oslo,5")
    clock.forward(3600)
    assert sorted(result.table for result in timed.tick()) == ["cities", "hourly"]
    assert stored_bag(timed, "hourly") == landing.asked()


def test_waiting_for_a_folder_means_what_is_in_it_now(db: StreamTables, cities: Landing) -> None:
    db.wait_for("cities", timeout=1)
    cities.orders("day2.csv", "4,Oslo,1")
    with pytest.raises(TransientError):
        db.wait_for("cities", timeout=0.2, refresh=False)
    db.refresh("cities")
    db.wait_for("cities", timeout=1)


def test_a_restored_folder_source_reads_its_files_anew(
    db: StreamTables, cities: Landing, tmp_path: Path
) -> None:
    db.backup(tmp_path / "backup", with_tables=True)
    cities.orders("day2.csv", "4,Oslo,1")
    cities.refreshed()
    from streamtables.backing_up import restore

    restore(tmp_path / "backup", tmp_path / "again")
    with StreamTables(tmp_path / "again", spark=db.spark) as again:
        landing = Landing(again, cities.folder)
        landing.refreshed()
        landing.orders("day3.csv", "5,Oslo,1")
        assert landing.refreshed().mode == "differential"
