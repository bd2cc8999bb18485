"""Sources that are no longer what they were: named, remedied, never wrong data."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.errors import (
    FullForbiddenError,
    NotFilledError,
    SchemaChangedError,
    SourceMissingError,
    SourceUnusableError,
    TableDamagedError,
    WouldMixError,
)
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import assert_equal_to_query, refreshed

COLUMNS = {"id": "bigint", "a": "int", "b": "string"}
ROWS = [(1, 1, "x"), (2, 2, "y"), (3, 2, None)]
QUERY = "SELECT a, count(*) AS n FROM t GROUP BY a"


@pytest.fixture
def source(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    made = DeltaTableFile(tmp_path / "t", COLUMNS, ROWS)
    db.add_source("t", path=made.path, key=["id"])
    db.create("s", QUERY)
    refreshed(db, "s")
    return made


def test_a_source_made_anew_is_read_again_with_its_reason(
    db: StreamTables, source: DeltaTableFile, tmp_path: Path
) -> None:
    source.append((4, 5, "z"))
    refreshed(db, "s")
    shutil.rmtree(source.path)
    made = DeltaTableFile(tmp_path / "t", COLUMNS, [(9, 9, "n")])
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "made anew" in result.reason.text
    made.append((10, 9, "n"))
    assert refreshed(db, "s").mode == "differential"


@pytest.mark.fault(
    "files",
    "the folder of a source is gone",
    step="refresh",
    seen="the refresh fails with ST-2004; the rows are as they were",
    recovery="bring the source back, then refresh",
)
def test_a_source_that_is_gone_stops_the_table_and_changes_nothing(
    db: StreamTables, source: DeltaTableFile
) -> None:
    before = db.read("s").collect()
    shutil.rmtree(source.path)
    with pytest.raises(SourceMissingError, match="gone"):
        db.refresh("s")
    assert db.read("s").collect() == before
    assert db.refresh_all()[0].outcome == "failed"


@pytest.mark.fault(
    "files",
    "entries of the log of a source are gone",
    step="refresh by changes",
    seen="a full refresh with the reason",
    recovery="by itself",
)
def test_lost_history_leads_to_a_rebuild_with_its_reason(
    db: StreamTables, source: DeltaTableFile
) -> None:
    source.append((4, 5, "z"))
    source.append((5, 5, "z"))
    source.open().create_checkpoint()
    for version in (0, 1):
        (source.path / "_delta_log" / f"{version:020d}.json").unlink()
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "history" in result.reason.text


def test_lost_history_is_an_error_where_full_refreshes_are_forbidden(
    db: StreamTables, source: DeltaTableFile
) -> None:
    db.alter("s", full="forbid")
    source.append((4, 5, "z"))
    source.append((5, 5, "z"))
    source.open().create_checkpoint()
    for version in (0, 1):
        (source.path / "_delta_log" / f"{version:020d}.json").unlink()
    with pytest.raises(FullForbiddenError):
        db.refresh("s")
    assert db.refresh("s", full=True).mode == "full"
    assert_equal_to_query(db, "s")


@pytest.mark.fault(
    "files",
    "files of changes were vacuumed away",
    step="refresh by changes",
    seen="a full refresh with the reason",
    recovery="by itself",
)
def test_vacuumed_change_files_lead_to_a_rebuild_with_their_reason(
    db: StreamTables, source: DeltaTableFile
) -> None:
    source.update("id = 1", a="8")
    source.overwrite([(1, 8, "x"), (2, 3, "y")])
    source.open().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    for left in source.path.rglob("cdc-*.parquet"):
        left.unlink()
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "history" in result.reason.text


def test_new_columns_are_a_remark_and_not_read(db: StreamTables, source: DeltaTableFile) -> None:
    wider = pa.table({"id": [7], "a": pa.array([7], pa.int32()), "b": ["w"], "extra": [1.5]})
    write_deltalake(str(source.path), wider, mode="append", schema_mode="merge")
    result = refreshed(db, "s")
    assert result.mode == "differential"
    assert any("extra" in note for note in result.notes)


def test_a_lost_column_that_is_read_stops_the_table(
    db: StreamTables, source: DeltaTableFile
) -> None:
    narrower = pa.table({"id": [7], "b": ["w"]})
    write_deltalake(str(source.path), narrower, mode="overwrite", schema_mode="overwrite")
    with pytest.raises(SchemaChangedError) as stopped:
        db.refresh("s")
    assert '"a"' in stopped.value.detail


def test_a_lost_column_that_nobody_reads_is_no_matter(
    db: StreamTables, source: DeltaTableFile
) -> None:
    narrower = pa.table({"id": [7], "a": pa.array([7], pa.int32())})
    write_deltalake(str(source.path), narrower, mode="overwrite", schema_mode="overwrite")
    refreshed(db, "s")


def test_a_column_of_another_type_leads_to_a_rebuild(
    db: StreamTables, source: DeltaTableFile
) -> None:
    retyped = pa.table({"id": [7], "a": pa.array([2**40], pa.int64()), "b": ["w"]})
    write_deltalake(str(source.path), retyped, mode="overwrite", schema_mode="overwrite")
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "int" in result.reason.text


def _alter(db: StreamTables, source: DeltaTableFile, *changes: str) -> None:
    for change in changes:
        db.spark.sql(f"ALTER TABLE delta.`{source.path}` {change}")


BY_NAME = "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


def test_columns_that_exchange_their_names_lead_to_a_rebuild(
    db: StreamTables, tmp_path: Path
) -> None:
    made = DeltaTableFile(tmp_path / "t", {"g": "int", "h": "int"}, [(1, 10), (1, 20), (2, 20)])
    _alter(db, made, BY_NAME)
    db.add_source("t", path=made.path)
    query = "SELECT g, count(*) AS n FROM t GROUP BY g"
    db.create("s", query)
    refreshed(db, "s")
    _alter(db, made, "RENAME COLUMN g TO k", "RENAME COLUMN h TO g", "RENAME COLUMN k TO h")
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert 'column "g"' in result.reason.text
    assert sorted(map(tuple, db.read("s").collect())) == [(10, 1), (20, 2)]
    db.create("later", query)
    refreshed(db, "later")
    assert sorted(map(tuple, db.read("later").collect())) == [(10, 1), (20, 2)]


def test_a_dropped_column_that_nobody_reads_leads_on_with_its_reason(
    db: StreamTables, source: DeltaTableFile
) -> None:
    # Enough rows that one of them is no large share.
    source.append(*((number, 3, "w") for number in range(10, 20)))
    refreshed(db, "s")
    _alter(db, source, BY_NAME, "DROP COLUMN b")
    db.spark.sql(f"DELETE FROM delta.`{source.path}` WHERE id = 2")
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "across a change of the schema" in result.reason.text
    db.spark.sql(f"DELETE FROM delta.`{source.path}` WHERE id = 3")
    assert refreshed(db, "s").mode == "differential"


def test_a_property_that_is_set_is_no_change_of_the_result(
    db: StreamTables, source: DeltaTableFile
) -> None:
    _alter(db, source, "SET TBLPROPERTIES ('owner.team' = 'sales')")
    assert db.refresh("s").reason.code == "no-effect"
    assert db.refresh("s").reason.code == "current"


def test_rows_of_one_source_are_followed_while_another_had_a_property_set(
    db: StreamTables, source: DeltaTableFile, tmp_path: Path
) -> None:
    names = DeltaTableFile(tmp_path / "names", {"a": "int", "name": "string"}, [(1, "one")])
    db.add_source("names", path=names.path)
    db.create("named", "SELECT t.id, names.name FROM t JOIN names ON t.a = names.a")
    refreshed(db, "named")
    _alter(db, names, "SET TBLPROPERTIES ('owner.team' = 'sales')")
    source.append((4, 1, "z"))
    result = refreshed(db, "named")
    assert (result.mode, result.rows_inserted) == ("differential", 1)


def test_readers_of_a_stream_table_follow_when_its_columns_get_another_type(
    db: StreamTables, source: DeltaTableFile
) -> None:
    db.create("on_top", "SELECT a, n + 1 AS m FROM s")
    refreshed(db, "on_top")
    retyped = pa.table({"id": [7, 8], "a": ["k", "k"], "b": ["w", "w"]})
    write_deltalake(str(source.path), retyped, mode="overwrite", schema_mode="overwrite")
    assert [result.outcome for result in db.refresh_all()] == ["applied", "applied"]
    assert sorted(map(tuple, db.read("on_top").collect())) == [("k", 3)]


@pytest.mark.fault(
    "files",
    "a source is put back from a copy of its files",
    step="before the next refresh",
    seen="a full refresh with the reason; versions of the same number are told apart",
    recovery="by itself",
)
@pytest.mark.parametrize("written_since", range(4))
def test_a_source_that_was_put_back_from_a_copy_is_read_again(
    db: StreamTables, source: DeltaTableFile, tmp_path: Path, written_since: int
) -> None:
    db.create("on_top", "SELECT a, n + 1 AS m FROM s")
    shutil.copytree(source.path, tmp_path / "copy")
    for number in (4, 5):
        source.append((number, 5, "z"))
    db.refresh_all()
    shutil.rmtree(source.path)
    shutil.copytree(tmp_path / "copy", source.path)
    for number in range(written_since):
        source.append((10 + number, 6, "n"))
    with pytest.raises(NotFilledError, match='source "t" was made anew'):
        db.verify("on_top")
    result = refreshed(db, "s")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "put back to an earlier version" in result.reason.text
    db.refresh_all()
    assert_equal_to_query(db, "on_top")
    source.append((20, 7, "n"))
    assert refreshed(db, "s").mode == "differential"


def test_the_scheduler_notices_a_source_that_was_put_back(
    db: StreamTables, source: DeltaTableFile, tmp_path: Path
) -> None:
    db.alter("s", schedule="1 second")
    shutil.copytree(source.path, tmp_path / "copy")
    source.append((4, 5, "z"))
    assert _ticked(db) == ["differential"]
    assert_equal_to_query(db, "s")
    shutil.rmtree(source.path)
    shutil.copytree(tmp_path / "copy", source.path)
    # The version that was read has the same number now, and other rows.
    source.append((10, 6, "n"))
    assert _ticked(db) == ["full"]
    assert "put back" in db.history("s")[0].reason_text
    assert_equal_to_query(db, "s")


def _ticked(db: StreamTables) -> list[str]:
    """Make ticks until one does something; return the modes of its refreshes."""
    for _ in range(10):
        if results := db.tick():
            return [result.mode for result in results]
        time.sleep(1)
    return []


def test_a_paused_reader_of_a_source_made_anew_is_rebuilt_once_it_goes_on(
    db: StreamTables, source: DeltaTableFile
) -> None:
    db.create("on_top", "SELECT a, n + 1 AS m FROM s")
    db.create("beside", "SELECT id, b FROM t")
    source.append((4, 5, "z"))
    db.refresh_all()
    for name in ("s", "on_top", "beside"):
        assert_equal_to_query(db, name)
    db.pause("beside")
    shutil.rmtree(source.path)
    # Its versions have the numbers of those that were read, and other rows.
    anew = DeltaTableFile(source.path, COLUMNS, [(7, 1, "k"), (8, 1, "w")])
    anew.append((9, 2, "k"))
    with pytest.raises(NotFilledError, match='source "t" was made anew'):
        db.verify("on_top")
    assert "made anew" in db.refresh("s").reason.text
    assert_equal_to_query(db, "s")
    with pytest.raises(NotFilledError, match='source "t" was made anew'):
        db.verify("on_top")
    with pytest.raises(WouldMixError):
        db.read(["s", "on_top"])
    assert {lag.name: lag.standing for lag in db.lags()}["on_top"] == "behind"
    db.resume("beside")
    with pytest.raises(NotFilledError, match="made anew"):
        db.verify("beside")
    anew.append((10, 2, "l"))
    again = db.refresh("beside")
    assert (again.mode, again.outcome) == ("full", "applied")
    assert "while it was stopped" in again.reason.text
    db.refresh_all()
    for name in ("s", "on_top", "beside"):
        assert_equal_to_query(db, name)
        assert db.verify(name).equal
    anew.append((11, 2, "l"))
    assert {result.mode for result in db.refresh_all()} == {"differential"}
    for name in ("s", "on_top", "beside"):
        assert_equal_to_query(db, name)


def test_maintenance_of_a_source_is_no_change(db: StreamTables, source: DeltaTableFile) -> None:
    source.append((4, 5, "z"))
    refreshed(db, "s")
    source.open().optimize.compact()
    assert db.refresh("s").reason.code == "current"


def test_a_feed_that_is_off_is_refused_with_the_statement_to_run(
    db: StreamTables, tmp_path: Path
) -> None:
    write_deltalake(str(tmp_path / "off"), pa.table({"a": [1]}))
    with pytest.raises(SourceUnusableError) as refused:
        db.add_source("off", path=tmp_path / "off")
    assert "ALTER TABLE" in refused.value.hint
    assert db.add_source("off", path=tmp_path / "off", enable_change_feed=True).name == "off"


@pytest.mark.fault(
    "files",
    "somebody else commits to a stream table",
    step="before the next refresh",
    seen="the state `damaged`, ST-2101",
    recovery="`streamtables repair NAME`",
)
def test_foreign_rows_in_a_stream_table_are_found_and_repaired(
    db: StreamTables, source: DeltaTableFile
) -> None:
    [table] = db.stream_tables()
    db.spark.sql(f"DELETE FROM delta.`{table.location}` WHERE a = 1")
    with pytest.raises(TableDamagedError, match="damaged"):
        db.verify("s")
    with pytest.raises(TableDamagedError, match="damaged"):
        db.refresh("s")
    assert db.status()[0].state == "damaged"
    source.append((4, 5, "z"))
    with pytest.raises(TableDamagedError):
        db.refresh("s")
    assert db.repair("s").mode == "full"
    assert db.status()[0].state == "active"
    assert_equal_to_query(db, "s")
    source.append((5, 6, "z"))
    assert refreshed(db, "s").mode == "differential"


def test_maintenance_of_a_stream_table_is_no_damage(
    db: StreamTables, source: DeltaTableFile
) -> None:
    [table] = db.stream_tables()
    for number in range(4, 7):
        source.append((number, number, "z"))
        refreshed(db, "s")
    db.spark.sql(f"OPTIMIZE delta.`{table.location}`")
    source.append((9, 9, "z"))
    assert refreshed(db, "s").mode == "differential"


def test_a_failing_branch_leaves_its_readers_where_they_were(
    db: StreamTables, source: DeltaTableFile
) -> None:
    db.create("ratio", "SELECT id, 10 / a AS r FROM t")
    db.create("upper_half", "SELECT id FROM ratio WHERE r > 2")
    db.refresh_all()
    source.append((4, 0, "zero"))
    outcomes = {result.table: result for result in db.refresh_all()}
    assert outcomes["ratio"].outcome == "failed"
    assert outcomes["ratio"].error is not None
    assert outcomes["upper_half"].outcome == "deferred"
    assert outcomes["s"].outcome == "applied"
    source.delete("a = 0")
    assert all(result.outcome != "failed" for result in db.refresh_all())
    for name in ("s", "ratio", "upper_half"):
        assert_equal_to_query(db, name)
