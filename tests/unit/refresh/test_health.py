"""What is found wrong with a warehouse, without touching it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.positions import CommitStamp, Frontier
from tests.support.delta_tables import DeltaTableFile
from tests.unit.catalog.builders import START, at, record, standing


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "w") as opened:
        yield opened


@pytest.fixture
def orders(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    made = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    db.add_source("orders", path=made.path)
    return made


@pytest.fixture
def table(db: StreamTables, orders: DeltaTableFile) -> StreamTable:
    """A table that stands for version 0 of its source, with one commit of ours."""
    made = db.create("t", "SELECT id FROM orders")
    source = db._catalog.source("orders")
    stands = standing(1, {source.id: 0}, query_hash=made.defining_query_hash)
    ours = CommitStamp(
        table_id=made.id,
        sequence=stands.sequence,
        refresh_id=stands.refresh_id,
        frontier=stands.frontier,
        base_frontier=Frontier.EMPTY,
        mode="full",
        query_hash=made.defining_query_hash,
    )
    write(made.location, 1, ours)
    db._catalog.finish_refresh(record(made.id, state="applied"), stands)
    return made


def write(location: str, row: int, stamp: CommitStamp | None = None) -> None:
    from deltalake import CommitProperties, Transaction

    properties = None
    if stamp is not None:
        properties = CommitProperties(
            custom_metadata={"userMetadata": stamp.to_json()},
            app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
        )
    rows = pa.table({"id": pa.array([row], pa.int64())})
    write_deltalake(location, rows, mode="append", commit_properties=properties)


def found(db: StreamTables) -> dict[str, str]:
    """What is found, by its code: how bad it is; without what the machine's disk is like."""
    return {item.code: item.severity for item in db.health_check() if item.code != "disk"}


def test_nothing_is_wrong_with_a_table_that_follows(
    db: StreamTables, table: StreamTable, orders: DeltaTableFile
) -> None:
    orders.append((2,))
    assert found(db) == {}


def test_a_table_without_rows_is_only_told(db: StreamTables, orders: DeltaTableFile) -> None:
    db.create("t", "SELECT id FROM orders")
    assert found(db) == {"not-filled": "info"}


@pytest.mark.parametrize(
    ("state", "severity"),
    [
        ("damaged", "error"),
        ("suspended", "error"),
        ("needs-rebuild", "warning"),
        ("paused", "info"),
    ],
)
def test_states_are_told_with_their_reason(
    db: StreamTables, table: StreamTable, state: str, severity: str
) -> None:
    db._catalog.set_state(table.id, state, "because", at=START)  # type: ignore[arg-type]
    [item] = [item for item in db.health_check() if item.code == state]
    assert (item.severity, item.subject) == (severity, "t")
    assert item.text.endswith(": because")
    assert item.action


def test_a_foreign_commit_is_an_error(db: StreamTables, table: StreamTable) -> None:
    write(table.location, 9)
    assert found(db) == {"foreign-commit": "error"}


@pytest.mark.fault(
    "files",
    "the folder of a stream table is gone",
    step="any",
    seen="`health`: `table-gone`",
    recovery="`streamtables repair NAME`",
)
def test_a_table_that_is_gone_is_an_error(db: StreamTables, table: StreamTable) -> None:
    shutil.rmtree(table.location)
    assert found(db) == {"table-gone": "error"}


def test_history_that_is_gone_will_mean_a_full_refresh(
    db: StreamTables, table: StreamTable, orders: DeltaTableFile
) -> None:
    orders.append((2,))
    orders.append((3,))
    (Path(orders.path) / "_delta_log" / f"{1:020}.json").unlink()
    assert found(db)["history-gone"] == "warning"


def test_a_source_that_is_gone_is_an_error(
    db: StreamTables, table: StreamTable, orders: DeltaTableFile
) -> None:
    shutil.rmtree(orders.path)
    assert found(db)["source-gone"] == "error"


def test_a_failed_refresh_is_told_with_its_error(db: StreamTables, table: StreamTable) -> None:
    error = {"error_code": "ST-1407", "error_text": "no"}
    failed = record(table.id, sequence=2, state="failed", started_at=at(5), **error)
    db._catalog.finish_refresh(failed, None)
    [item] = [item for item in db.health_check() if item.code == "refresh-failed"]
    assert "no (ST-1407)" in item.text


def test_a_folder_that_nothing_defines_is_told(
    db: StreamTables, table: StreamTable, tmp_path: Path
) -> None:
    write(str(tmp_path / "w" / "tables" / "lost"), 1)
    [item] = [item for item in db.health_check() if item.code == "orphan"]
    assert item.subject == "tables/lost"


def test_little_room_on_the_disk_is_told(
    db: StreamTables, table: StreamTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, severity in ((2**20, "error"), (30 * 2**30, "warning")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: (2**40, 0, free))
        [item] = [item for item in db.health_check() if item.code == "disk"]
        assert item.severity == severity


def test_the_worst_comes_first(db: StreamTables, table: StreamTable, tmp_path: Path) -> None:
    write(str(tmp_path / "w" / "tables" / "lost"), 1)
    write(table.location, 9)
    db.create("other", "SELECT id FROM orders")
    severities = [item.severity for item in db.health_check() if item.code != "disk"]
    assert severities == ["error", "warning", "info"]


def test_a_store_that_cannot_be_read_is_told_and_hides_nothing_else(
    db: StreamTables, table: StreamTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise OSError("no route to the store")

    monkeypatch.setattr("streamtables.engine.delta_log.DeltaLog.entries", unreachable)
    db.pause("t", "for now")
    assert found(db) == {"log-unreadable": "error", "paused": "info"}
