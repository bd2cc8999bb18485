"""Backups of a warehouse, and what a restore makes of tables that are older or newer than it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from streamtables.api import connect
from streamtables.backing_up import restore
from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import Capture, CaptureEvent, Input, StreamTable
from streamtables.catalog.upgrade import VERSIONS
from streamtables.errors import AlreadyExistsError, ConfigError
from streamtables.positions import CommitStamp, Frontier, RefreshId, Sequence, Standing, Version
from tests.unit.catalog.builders import START, source, stream_table


@dataclass
class Warehouse:
    """A source and two tables, one on the other, refreshed without Spark."""

    path: Path

    def __post_init__(self) -> None:
        self.catalog = Catalog.open(default_location(self.path))
        place = self.path / "data" / "orders"
        write_deltalake(str(place), pa.table({"id": [1]}))
        made = DeltaTable(str(place)).metadata().id
        self.orders = self.catalog.add_source(
            source("orders", location=str(place), delta_table_id=str(made))
        )
        self.low = self._table("low", Input(self.orders.id, "source"))
        self.high = self._table("high", Input(self.low.id, "stream-table"))

    def _table(self, name: str, read: Input) -> StreamTable:
        table = stream_table(name, location=str(self.path / "tables" / name))
        return self.catalog.create_stream_table(table, [read])

    def refresh(self, table: StreamTable, read: int, root: int, *, record: bool = True) -> None:
        """Commit one row with its stamp; without `record` the catalog does not know."""
        version = len(self.log(table))
        key = (
            table.inputs[0].id if table.inputs else self.catalog.stream_table(table.id).inputs[0].id
        )
        stamp = CommitStamp(
            table.id,
            Sequence(version + 1),
            RefreshId(f"{table.name}-{version}-{root}"),
            Frontier({key: Version(read)}),
            Frontier({self.orders.id: Version(root)}),
            "full",
            table.defining_query_hash,
        )
        write_deltalake(
            table.location,
            pa.table({"id": [version]}),
            mode="append",
            commit_properties=CommitProperties(
                custom_metadata={"userMetadata": stamp.to_json()},
                app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
            ),
        )
        if record:
            self.catalog.adopt_standing(
                table.id, Standing.from_stamp(stamp, Version(version), START)
            )

    def write(self) -> None:
        write_deltalake(self.orders.location, pa.table({"id": [9]}), mode="append")

    def log(self, table: StreamTable) -> list[Path]:
        return sorted((Path(table.location) / "_delta_log").glob("*.json"))

    def round(self) -> None:
        """Bring both tables to the source as it is."""
        root = DeltaTable(self.orders.location).version()
        self.refresh(self.low, root, root)
        self.refresh(self.high, len(self.log(self.low)) - 1, root)

    def backup(self, folder: Path, **options: bool) -> None:
        with connect(self.path) as db:
            db.backup(folder, **options)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Warehouse]:
    made = Warehouse(tmp_path / "w")
    made.round()
    made.write()
    made.round()
    yield made
    made.catalog.close()


def restored(folder: Path, into: Path, *, force: bool = False) -> dict[str, str]:
    return {item.table: item.how for item in restore(folder, into, force=force)}


def states(into: Path) -> dict[str, str]:
    with Catalog.open(default_location(into)) as catalog:
        return {table.name: table.state for table in catalog.stream_tables()}


def standings(into: Path) -> dict[str, int]:
    with Catalog.open(default_location(into)) as catalog:
        snapshot = catalog.snapshot()
        names = {key: table.name for key, table in snapshot.stream_tables.items()}
        return {names[key]: int(item.version) for key, item in snapshot.standings.items()}


def test_the_manifest_says_where_everything_stood(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    data = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert data["catalog_revision"] == VERSIONS[-1]
    tables = {item["name"]: item for item in data["tables"]}
    assert tables["low"]["version"] == 1
    assert tables["low"]["frontier"] == {house.orders.id: 1}
    assert tables["low"]["delta_table_id"] == str(DeltaTable(house.low.location).metadata().id)
    assert (tables["orders"]["kind"], tables["orders"]["version"]) == ("source", 1)
    assert sorted(file.name for file in (tmp_path / "b").iterdir()) == [
        "catalog.db",
        "manifest.json",
    ]


def test_a_backup_with_its_tables_makes_another_warehouse(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b", with_tables=True)
    house.write()
    house.round()
    into = tmp_path / "other"
    assert restored(tmp_path / "b", into) == {"low": "equal", "high": "equal"}
    with Catalog.open(default_location(into)) as catalog:
        low = catalog.stream_table("low")
        assert low.location == str(into / "tables" / "low")
        assert catalog.source("orders").location == house.orders.location
    assert DeltaTable(low.location).version() == 1
    assert DeltaTable(low.location).to_pyarrow_table().num_rows == 2
    assert states(into) == {"low": "active", "high": "active"}


def test_only_files_of_the_version_are_copied(house: Warehouse, tmp_path: Path):
    version = DeltaTable(house.low.location).version()
    house.backup(tmp_path / "b", with_tables=True)
    before = {file.name for file in (tmp_path / "b" / "tables" / "low").glob("*.parquet")}
    assert len(before) == version + 1
    write_deltalake(house.low.location, pa.table({"id": [0]}), mode="overwrite")
    DeltaTable(house.low.location).create_checkpoint()
    house.backup(tmp_path / "later", with_tables=True)
    copied = {path.name for path in (tmp_path / "later" / "tables" / "low").rglob("*.*")}
    assert before <= copied
    assert not any(name.startswith(f"{version + 1:020d}") for name in copied)
    assert "_last_checkpoint" not in copied


def test_tables_ahead_of_an_older_catalog_are_adopted(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    house.write()
    house.round()
    house.catalog.close()
    assert restored(tmp_path / "b", house.path, force=True) == {"low": "ahead", "high": "ahead"}
    assert standings(house.path) == {"low": 2, "high": 2}
    assert (house.path / "_streamtables" / "catalog.db.replaced").exists()


def test_a_table_behind_the_catalog_stands_by_its_own_stamp_and_its_readers_are_rebuilt(
    house: Warehouse, tmp_path: Path
):
    shutil.copytree(house.low.location, tmp_path / "old")
    house.write()
    house.round()
    house.backup(tmp_path / "b")
    shutil.rmtree(house.low.location)
    shutil.move(tmp_path / "old", house.low.location)
    assert restored(tmp_path / "b", house.path, force=True) == {"low": "behind", "high": "equal"}
    assert standings(house.path) == {"low": 1, "high": 2}
    assert states(house.path) == {"low": "active", "high": "needs-rebuild"}


def test_a_table_of_another_history_is_not_taken_for_the_recorded_one(
    house: Warehouse, tmp_path: Path
):
    shutil.copytree(house.low.location, tmp_path / "old")
    house.write()
    house.round()
    house.backup(tmp_path / "b")
    shutil.rmtree(house.low.location)
    shutil.move(tmp_path / "old", house.low.location)
    # The same version and sequence, written by another refresh.
    house.refresh(house.low, 1, 1, record=False)
    assert restored(tmp_path / "b", house.path, force=True)["low"] == "behind"
    assert states(house.path)["high"] == "needs-rebuild"
    with Catalog.open(default_location(house.path)) as catalog:
        standing = catalog.standing(house.low.id)
        assert standing is not None
        assert standing.refresh_id == "low-2-1"


def test_a_missing_table_is_named_and_filled_anew(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    shutil.rmtree(house.low.location)
    assert restored(tmp_path / "b", house.path, force=True)["low"] == "missing"
    assert standings(house.path) == {"high": 1}
    assert states(house.path) == {"low": "active", "high": "needs-rebuild"}


@pytest.mark.parametrize("state", ["paused", "suspended"])
@pytest.mark.parametrize("lost", ["table", "source"])
def test_a_reader_that_was_stopped_stays_so_and_is_rebuilt_when_it_is_resumed(
    house: Warehouse, tmp_path: Path, state: Literal["paused", "suspended"], lost: str
):
    house.catalog.set_state(house.high.id, state, "by ann", at=START)
    house.backup(tmp_path / "b")
    if lost == "table":
        shutil.rmtree(house.low.location)
    else:
        (Path(house.orders.location) / "_delta_log" / f"{1:020d}.json").unlink()
    restored(tmp_path / "b", house.path, force=True)
    assert states(house.path)["high"] == state
    with connect(house.path) as db:
        [high] = [table for table in db.stream_tables() if table.name == "high"]
        assert high.state_reason == "by ann"
        db.resume("high")
        assert db._catalog.stream_table("high").state == "active"
        # A table that stands for another query than its own is refreshed in full.
        assert db._catalog.standings()[high.id].query_hash != high.defining_query_hash


def test_a_table_that_somebody_else_wrote_to_is_damaged(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    write_deltalake(house.low.location, pa.table({"id": [7]}), mode="append")
    assert restored(tmp_path / "b", house.path, force=True)["low"] == "damaged"
    assert states(house.path)["low"] == "damaged"


def test_a_source_behind_what_was_read_has_its_readers_rebuilt(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    (Path(house.orders.location) / "_delta_log" / f"{1:020d}.json").unlink()
    assert restored(tmp_path / "b", house.path, force=True)["orders"] == "behind"
    assert states(house.path) == {"low": "needs-rebuild", "high": "needs-rebuild"}
    with Catalog.open(default_location(house.path)) as catalog:
        for standing in catalog.standings().values():
            assert standing.base_frontier[house.orders.id] == 0


def test_captured_tables_are_copied_after_a_restore(house: Warehouse, tmp_path: Path):
    people = source("people", kind="postgres", location=str(house.path / "mirrors" / "people"))
    capture = Capture(people.id, "u", "1/2", "tag", 9, "people", "auto", "triggers", "{}")
    house.catalog.add_captured_source(
        people, capture, CaptureEvent(people.id, START, "added", "captured by triggers")
    )
    house.backup(tmp_path / "b")
    assert restored(tmp_path / "b", house.path, force=True)["people"] == "copied"
    with Catalog.open(default_location(house.path)) as catalog:
        assert "restored from the backup" in catalog.captures()[people.id].copy_reason


def test_a_target_that_is_taken_is_left_as_it_is(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b", with_tables=True)
    with pytest.raises(AlreadyExistsError, match="a catalog"):
        restore(tmp_path / "b", house.path)
    into = tmp_path / "other"
    (into / "tables" / "low").mkdir(parents=True)
    with pytest.raises(AlreadyExistsError, match="a table"):
        restore(tmp_path / "b", into)
    assert [path.name for path in into.rglob("*")] == ["tables", "low"]


def test_a_catalog_that_cannot_be_read_is_replaced_and_kept(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    house.catalog.close()
    file = default_location(house.path)
    file.write_bytes(b"not a database at all" * 100)
    assert restored(tmp_path / "b", house.path, force=True) == {"low": "equal", "high": "equal"}
    kept = file.with_name("catalog.db.replaced")
    assert kept.read_bytes() == b"not a database at all" * 100
    restored(tmp_path / "b", house.path, force=True)
    assert file.with_name("catalog.db.replaced-2").exists()


def test_a_folder_that_is_taken_gets_no_backup(house: Warehouse, tmp_path: Path):
    house.backup(tmp_path / "b")
    with pytest.raises(ConfigError, match="not empty"):
        house.backup(tmp_path / "b")


def _spoilt(folder: Path, how: str) -> None:
    file = folder / "manifest.json"
    data = json.loads(file.read_text())
    match how:
        case "no manifest":
            file.unlink()
        case "not JSON":
            file.write_text("{")
        case "a list":
            file.write_text("[]")
        case "a later format":
            file.write_text(json.dumps({**data, "format": 2}))
        case "a later catalog":
            file.write_text(json.dumps({**data, "catalog_revision": "0999"}))
        case "another catalog":
            (folder / "catalog.db").write_bytes(b"another")
        case "no catalog":
            (folder / "catalog.db").unlink()
        case "no folder":
            shutil.rmtree(folder)


@pytest.mark.parametrize(
    "how",
    [
        "no manifest",
        "not JSON",
        "a list",
        "a later format",
        "a later catalog",
        "another catalog",
        "no catalog",
        "no folder",
    ],
)
def test_what_is_no_whole_backup_is_refused(house: Warehouse, tmp_path: Path, how: str):
    house.backup(tmp_path / "b")
    _spoilt(tmp_path / "b", how)
    with pytest.raises(ConfigError, match="not a backup") as caught:
        restore(tmp_path / "b", tmp_path / "other")
    assert caught.value.hint
    assert not (tmp_path / "other").exists()


def test_no_lease_comes_back(house: Warehouse, tmp_path: Path):
    assert house.catalog.lead("host:1", START, 60) is not None
    house.backup(tmp_path / "b")
    restore(tmp_path / "b", tmp_path / "other")
    with Catalog.open(default_location(tmp_path / "other")) as catalog:
        assert catalog.lease() is None
