"""Times that Spark wrote as INT96: read as they are, and never written back as others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import parquet

from streamtables.engine import change_feed, spark_times
from streamtables.engine.outcomes import NotSmall, TooLarge
from streamtables.engine.reading import read_rows
from streamtables.engine.small_commit import SmallHandle, read_covered, require_rewritable
from streamtables.engine.upkeep import condition
from streamtables.positions import Version

FAR = datetime(9999, 12, 31, tzinfo=UTC)
OLD = datetime(1500, 1, 1, tzinfo=UTC)
NEAR = datetime(2026, 1, 1, tzinfo=UTC)
TIME = pa.timestamp("us", "UTC")
SHAPES = {
    "plain": TIME,
    "list": pa.list_(TIME),
    "struct": pa.struct([("at", TIME)]),
    "map": pa.map_(pa.string(), TIME),
}


def rows(*moments: object, type_: pa.DataType = TIME) -> pa.Table:
    return pa.table(
        {"id": pa.array(range(len(moments)), pa.int64()), "ts": pa.array(moments, type_)}
    )


def written_by_spark(folder: Path, table: pa.Table) -> Path:
    """Have a Delta table whose version 1 adds rows in the form that Spark writes by default."""
    write_deltalake(
        str(folder),
        table.schema.empty_table(),
        configuration={"delta.enableChangeDataFeed": "true"},
    )
    name = "part 1.parquet"
    # Without Arrow's own note of the types, which Spark's files have not.
    parquet.write_table(
        table, folder / name, use_deprecated_int96_timestamps=True, store_schema=False
    )
    added = {
        "path": "part%201.parquet",
        "partitionValues": {},
        "size": (folder / name).stat().st_size,
        "modificationTime": 0,
        "dataChange": True,
    }
    log = folder / "_delta_log" / f"{1:020}.json"
    log.write_text("\n".join(map(json.dumps, [{"commitInfo": {"timestamp": 0}}, {"add": added}])))
    return folder


def moments(table: pa.Table) -> set[object]:
    return set(table.column("ts").to_pylist())


def nested(shape: str, moment: datetime) -> object:
    return {"plain": moment, "list": [moment], "struct": {"at": moment}, "map": [("a", moment)]}[
        shape
    ]


def feed(folder: Path, columns: Sequence[str] = ("id", "ts")) -> pa.Table | TooLarge:
    return change_feed.read_small(str(folder), Version(0), Version(1), columns=columns, limit=1_000)


def test_the_form_is_what_deltalake_reads_wrongly(tmp_path: Path):
    folder = written_by_spark(tmp_path / "t", rows(FAR, NEAR))
    read = pa.table(DeltaTable(str(folder)).scan())
    assert moments(read) != {FAR, NEAR}


def test_rows_are_read_with_the_times_that_were_written(tmp_path: Path):
    folder = written_by_spark(tmp_path / "t", rows(FAR, OLD, NEAR))
    handle = SmallHandle.open(str(folder), 1)
    assert moments(read_covered(handle, "true", rows_max=10)) == {FAR, OLD, NEAR}
    assert moments(read_covered(handle, '"id" = 0', rows_max=10)) == {FAR}
    assert moments(read_rows(str(folder), Version(1), 10)) == {FAR, OLD, NEAR}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("moment", [FAR, OLD])
def test_a_change_with_far_times_is_left_to_spark(tmp_path: Path, shape: str, moment: datetime):
    far = rows(nested(shape, moment), nested(shape, NEAR), type_=SHAPES[shape])
    folder = written_by_spark(tmp_path / "t", far)
    files = ["part%201.parquet"]
    schema = pa.schema(DeltaTable(str(folder)).schema().to_arrow())
    assert spark_times.far_times(str(folder), files, schema)
    near = rows(nested(shape, NEAR), None, type_=SHAPES[shape])
    other = written_by_spark(tmp_path / "near", near)
    assert not spark_times.far_times(str(other), files, schema)


def test_a_change_feed_over_far_times_is_declined_where_they_are_read(tmp_path: Path):
    folder = written_by_spark(tmp_path / "t", rows(FAR, NEAR))
    declined = feed(folder)
    assert isinstance(declined, TooLarge)
    assert "times" in declined.reason
    assert not isinstance(feed(folder, ["id"]), TooLarge)
    near = feed(written_by_spark(tmp_path / "near", rows(NEAR, NEAR)))
    assert not isinstance(near, TooLarge)


def test_a_table_with_such_times_is_rewritten_by_spark_alone(tmp_path: Path):
    folder = written_by_spark(tmp_path / "t", rows(NEAR, OLD))
    with pytest.raises(NotSmall, match="times"):
        require_rewritable(SmallHandle.open(str(folder), 1))
    for _ in range(3):
        write_deltalake(str(folder), rows(NEAR), mode="append")
    found = condition(str(folder))
    assert found is not None
    assert (found.files, found.small_files) == (4, 0)


def test_other_tables_are_rewritten_as_before(tmp_path: Path):
    write_deltalake(str(tmp_path / "t"), rows(FAR, NEAR))
    require_rewritable(SmallHandle.open(str(tmp_path / "t"), 0))
    found = condition(str(tmp_path / "t"))
    assert found is not None
    assert found.small_files == 1
    near = written_by_spark(tmp_path / "near", rows(NEAR, None))
    require_rewritable(SmallHandle.open(str(near), 1))


def test_a_file_that_is_gone_is_left_to_whoever_reads_the_feed(tmp_path: Path):
    schema = pa.schema([("ts", TIME)])
    assert not spark_times.far_times(str(tmp_path), ["gone.parquet"], schema)


def test_files_of_partitions_are_found_under_their_escaped_names(tmp_path: Path):
    folder = tmp_path / "t"
    write_deltalake(
        str(folder),
        rows(NEAR).append_column("p", pa.array(["a b:c"])),
        partition_by=["p"],
    )
    handle = SmallHandle.open(str(folder), 0)
    for uri in handle.table.file_uris():
        with spark_times._opened(uri) as file:
            assert file.metadata.num_rows == 1
