"""Files and logs of a store that speaks S3, as a process without Spark sees them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from streamtables.api import StreamTables
from streamtables.catalog.models import Source
from streamtables.engine import stores
from streamtables.engine.delta_log import DeltaLog, HeadProbe
from streamtables.engine.removal import remove_own_table
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import SourceUnusableError, TransientError
from streamtables.positions import InputId, Version
from streamtables.project.record import Record, read_record, write_record
from streamtables.sources.heads import Heads
from tests.support.object_store import BUCKET, object_store

ROOT = f"s3://{BUCKET}/shop"


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, str]]:
    with object_store() as variables:
        yield variables


@pytest.fixture(params=["disk", "store"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place to write to, in both kinds of it."""
    if request.param == "disk":
        return str(tmp_path)
    request.getfixturevalue("store")
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def store(found: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    stores._opened.cache_clear()
    return ROOT


def ids(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


def test_files_are_written_read_and_removed(root: str) -> None:
    place = f"{root}/a/b.json"
    assert stores.read_file(place) is None
    stores.write_file(place, b"one")
    stores.write_file(place, b"two")
    stores.write_file(f"{root}/a/c/d", b"three")
    assert stores.read_file(place) == b"two"
    assert stores.folders_in(f"{root}/a") == ["c"]
    assert stores.folders_in(f"{root}/nowhere") == []
    assert stores.remove_tree(f"{root}/a")
    assert not stores.remove_tree(f"{root}/a")
    assert stores.read_file(place) is None


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_a_log_is_followed(store: str, scheme: str) -> None:
    place = f"{scheme}{store.removeprefix('s3')}/logs/{scheme}"
    write_deltalake(place, ids(1, 2))
    probe, log = HeadProbe(place), DeltaLog(place)
    assert (probe.moved(), probe.moved(), log.head()) == (True, False, Version(0))
    write_deltalake(place, ids(3), mode="append")
    assert (probe.moved(), log.head(Version(0))) == (True, Version(1))
    entry = log.entry(Version(1))
    assert entry is not None
    assert (entry.only_adds, entry.rows_added) == (True, 1)
    assert log.entry(Version(2)) is None


def test_many_logs_are_asked_at_a_time(store: str) -> None:
    places = [f"{store}/many/{number}" for number in range(5)]
    for place in places:
        write_deltalake(place, ids(1))
    sources = [
        Source(InputId(place), place, place, (), "", datetime(2030, 1, 1, tzinfo=UTC))
        for place in (*places, "nowhere://lake/t")
    ]
    heads = Heads()
    assert heads.moved(sources) == (sources[:5], sources[5:])
    write_deltalake(places[3], ids(2), mode="append")
    assert heads.moved(sources) == ([sources[3]], sources[5:])


def test_a_commit_that_somebody_was_first_with_is_refused(store: str) -> None:
    place = f"{store}/commits/t"
    write_deltalake(place, ids(1, 2))
    first, second = DeltaTable(place), DeltaTable(place)
    first.update(predicate="id = 1", new_values={"id": "5"})
    with pytest.raises(CommitFailedError):
        second.update(predicate="id = 1", new_values={"id": "6"})
    assert sorted(DeltaTable(place).to_pyarrow_table()["id"].to_pylist()) == [2, 5]


def test_only_own_tables_are_removed(store: str) -> None:
    warehouse = Warehouse.at(store)
    for name in ("tables", "others"):
        write_deltalake(warehouse.inside(name, "t"), ids(1))
    assert remove_own_table(warehouse.inside("tables", "t"), warehouse)
    assert not remove_own_table(warehouse.inside("others", "t"), warehouse)
    assert DeltaLog(warehouse.inside("tables", "t")).head() is None
    assert DeltaLog(warehouse.inside("others", "t")).head() == Version(0)


def test_what_a_project_applied_is_kept_in_the_store(store: str) -> None:
    warehouse = Warehouse.at(store)
    assert read_record(warehouse) == Record()
    write_record(warehouse, Record("shop", "prod"))
    assert read_record(warehouse) == Record("shop", "prod")


def test_sources_in_a_store_are_added_and_looked_at(store: str, tmp_path: Path) -> None:
    place = f"{store}/sources/t"
    write_deltalake(place, ids(1, 2), configuration={"delta.enableChangeDataFeed": "true"})
    with StreamTables(f"{store}/w", catalog=str(tmp_path / "catalog.db")) as db:
        db.add_source("t", path=place, key="id")
        table = db.create("s", "SELECT id FROM t WHERE id > 1")
        assert [source.location for source in db._catalog.sources()] == [place]
        assert table.location.startswith(f"{store}/w/tables/s-")
        assert [item.code for item in db.health_check() if item.severity == "error"] == []
        write_deltalake(f"{store}/w/tables/left-1", ids(1))
        (orphan,) = [item for item in db.health_check() if item.code == "orphan"]
        assert f"{store}/w/tables/left-1" in orphan.action


def test_a_store_that_is_away_and_one_that_nobody_knows(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    stores._opened.cache_clear()
    with pytest.raises(TransientError, match="cannot be reached"):
        stores.folders_in(f"{store}/away")
    with pytest.raises(SourceUnusableError, match='kind "nowhere"'):
        stores.read_file("nowhere://lake/file")
