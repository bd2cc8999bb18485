"""Tables kept at a moment, and put back to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import AlreadyExistsError, ConfigError, NameNotAllowedError, NotFoundError
from tests.support.delta_tables import DeltaTableFile


@pytest.fixture
def source(tmp_path: Path) -> DeltaTableFile:
    return DeltaTableFile(tmp_path / "t", {"id": "bigint", "a": "int"}, [(1, 1), (2, 2)])


@pytest.fixture
def db(
    tmp_path: Path, source: DeltaTableFile, spark_sessions: SparkSessions
) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "w", spark=spark_sessions.get()) as opened:
        opened.add_source("t", path=source.path, key="id")
        opened.create("n", "SELECT a, count(*) AS n FROM t GROUP BY a")
        opened.create("high", "SELECT a FROM n WHERE n > 1")
        opened.refresh_all()
        yield opened


def rows(db: StreamTables, name: str) -> set[tuple[int, ...]]:
    return {tuple(row) for row in db.read(name).collect()}


def test_tables_are_put_back_and_go_on_by_changes(db: StreamTables, source: DeltaTableFile) -> None:
    kept = db.snapshot(["n", "high"], label="before")
    assert {item.table for item in kept.tables} == {"n", "high"}
    source.append((3, 2))
    db.refresh_all()
    assert rows(db, "high") == {(2,)}
    done = db.restore_snapshot("before")
    assert {item.reason.code for item in done} == {"restored"}
    assert rows(db, "n") == {(1, 1), (2, 1)}
    assert rows(db, "high") == set()
    for name in ("n", "high"):
        assert db.verify(name).equal, name
    results = {item.table: item for item in db.refresh_all()}
    assert results["n"].mode == "differential"
    assert rows(db, "high") == {(2,)}
    for name in ("n", "high"):
        assert db.verify(name).equal, name


def test_tables_that_stand_where_they_stood_are_put_back_too(
    db: StreamTables, source: DeltaTableFile
) -> None:
    db.snapshot(["n", "high"], label="before")
    source.append((3, 3))
    db.refresh_all()
    # "high" had no row to change: its rows are those of the snapshot, for another moment.
    done = {item.table: item for item in db.restore_snapshot("before")}
    assert {item.reason.code for item in done.values()} == {"restored"}
    both = db.read(["n", "high"])
    assert {tuple(row) for row in both["n"].collect()} == {(1, 1), (2, 1)}
    assert both["high"].collect() == []
    db.restore_snapshot("before")
    for name in ("n", "high"):
        assert db.verify(name).equal, name
    source.append((4, 3))
    results = {item.table: item for item in db.refresh_all()}
    assert {item.mode for item in results.values()} == {"differential"}
    assert rows(db, "high") == {(3,)}
    for name in ("n", "high"):
        assert db.verify(name).equal, name


def test_one_table_alone_and_an_epoch(db: StreamTables, source: DeltaTableFile) -> None:
    epoch = db.epoch()
    source.append((3, 2))
    db.refresh_all()
    db.snapshot("n", label="then", epoch=epoch)
    db.restore_snapshot("then")
    assert rows(db, "n") == {(1, 1), (2, 1)}
    db.refresh_all()
    for name in ("n", "high"):
        assert db.verify(name).equal, name


def test_what_cannot_be(db: StreamTables) -> None:
    db.snapshot("n", label="before")
    with pytest.raises(AlreadyExistsError):
        db.snapshot("n", label="before")
    with pytest.raises(ConfigError):
        db.snapshot([], label="none")
    with pytest.raises(NameNotAllowedError):
        db.snapshot("n", label="a/b")
    with pytest.raises(NotFoundError):
        db.restore_snapshot("never")
    db.alter("n", query="SELECT a, count(*) + 1 AS n FROM t GROUP BY a")
    with pytest.raises(ConfigError):
        db.restore_snapshot("before")
    db.drop_snapshot("before")
    assert db.snapshots() == []
