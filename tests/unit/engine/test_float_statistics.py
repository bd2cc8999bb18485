"""No statistics of columns that may hold NaN, in the file and in the log; of others, as ever."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamtables.engine import small_hand
from streamtables.engine.float_statistics import writer_properties
from tests.integration.spark.hands import signed, stamp

deltalake = pytest.importorskip("deltalake")

NAN = float("nan")
PLAIN = pa.table({"k": [1, 2], "x": [1.0, NAN], "s": ["a", "b"]})
NESTED = PLAIN.append_column("st", pa.array([{"f": 1.0, "i": 1}, {"f": NAN, "i": 2}]))


def test_nothing_changes_where_nothing_floats():
    assert writer_properties(PLAIN.select(["k", "s"]).schema) is None


@pytest.mark.parametrize("rows", [PLAIN, NESTED], ids=["plain", "nested"])
def test_neither_file_nor_log_bounds_a_column_with_nan(tmp_path: Path, rows: pa.Table):
    place = str(tmp_path / "t")
    deltalake.write_deltalake(place, rows.slice(0, 0))
    handle = small_hand.open_at(place, 0)
    small_hand.apply(handle, signed((1, rows)), key_columns=("k",), stamp=stamp(1))
    later = small_hand.open_at(place, 1)
    change = signed((-1, rows.slice(0, 1)))
    small_hand.apply(later, change, key_columns=("k",), stamp=stamp(2))
    for path in deltalake.DeltaTable(place).file_uris():
        group = pq.ParquetFile(path).metadata.row_group(0)
        found = [group.column(i) for i in range(group.num_columns)]
        assert {c.path_in_schema for c in found if c.is_stats_set and c.statistics.has_min_max} == {
            "k",
            "s",
        }
        assert {c.compression for c in found} == {"SNAPPY"}
    log = (tmp_path / "t" / "_delta_log" / f"{2:020d}.json").read_text().splitlines()
    adds = [json.loads(line)["add"] for line in log if line.startswith('{"add"')]
    assert [set(json.loads(add["stats"])["minValues"]) for add in adds] == [{"k", "s"}]
