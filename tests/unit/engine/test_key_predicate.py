"""Predicates that cover keys, run by deltalake on files of one row each."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from streamtables.engine import small_hand
from streamtables.engine.key_predicate import KEYS_MAX, key_predicate
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import Applied, NotSmall
from streamtables.engine.sql_text import identifier, text_literal

NAN, INF = float("nan"), float("inf")
COLUMNS = {
    "bigint": pa.array([1, -(2**63), 2**63 - 1, None], pa.int64()),
    "tinyint": pa.array([1, -128, 127, None], pa.int8()),
    "string": pa.array(["it's", 'a"\\`\n', "", None], pa.string()),
    "double": pa.array([0.1, NAN, -INF, None], pa.float64()),
    "float": pa.array([0.1, NAN, INF, None], pa.float32()),
    "decimal": pa.array(
        [Decimal("0.000000000000000001"), Decimal(-1), Decimal(10**19), None], pa.decimal128(38, 18)
    ),
    "date": pa.array([date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), None], pa.date32()),
    "timestamp": pa.array(
        [-1, -62135596800000000, 253402300799999999, None], pa.timestamp("us", "UTC")
    ),
    "timestamp_ntz": pa.array(
        [-1, -62135596800000000, 253402300799999999, None], pa.timestamp("us")
    ),
    "binary": pa.array([b"", b"\x00'", b"abc", None], pa.binary()),
    "boolean": pa.array([True, False, None], pa.bool_()),
}


@pytest.fixture(scope="module")
def deltalake():
    return pytest.importorskip("deltalake")


@pytest.mark.parametrize("kind", COLUMNS)
def test_each_key_finds_its_row_and_no_other(deltalake, tmp_path, kind):
    column = COLUMNS[kind]
    place = str(tmp_path / "t")
    rows = pa.table({"Key 1": column, "n": pa.array(range(len(column)), pa.int64())})
    for index in range(len(column)):
        deltalake.write_deltalake(place, rows.slice(index, 1), mode="append")
    handle = small_hand.open_at(place, len(column) - 1)
    for index in range(len(column)):
        keys = rows.slice(index, 1).select(["Key 1"])
        found = small_hand.read_keys(handle, ("Key 1",), keys).named
        assert found.column("n").to_pylist() == [index]
    everything = small_hand.read_keys(handle, ("Key 1",), rows.select(["Key 1"])).rows
    assert sorted(everything.column("n").to_pylist()) == list(range(len(column)))


def test_one_zero_covers_the_other(deltalake, tmp_path):
    place = str(tmp_path / "t")
    for value in (0.0, -0.0):
        deltalake.write_deltalake(place, pa.table({"k": [value]}), mode="append")
    for value in (0.0, -0.0):
        found = small_hand.read_keys(small_hand.open_at(place, 1), ("k",), pa.table({"k": [value]}))
        assert found.rows.num_rows == 2


def test_many_keys_of_two_columns_cover_only_the_pairs(deltalake, tmp_path):
    place = str(tmp_path / "t")
    a = [n // 40 for n in range(1600)]
    b = [f"b{n % 40}" for n in range(1600)]
    deltalake.write_deltalake(place, pa.table({"a": a, "b": b}))
    keys = pa.table({"a": list(range(40)), "b": [f"b{n}" for n in range(40)]})
    found = small_hand.read_keys(small_hand.open_at(place, 0), ("a", "b"), keys).rows
    assert found.num_rows == 40


def test_what_cannot_stand_in_a_predicate_is_left_to_spark():
    nested = pa.table({"k": pa.array([[1]], pa.list_(pa.int32()))})
    with pytest.raises(NotSmall):
        key_predicate(nested, ("k",), "datafusion")
    many = pa.table({"k": pa.array(map(str, range(KEYS_MAX + 1)))})
    with pytest.raises(NotSmall):
        key_predicate(many, ("k",), "datafusion")


def test_too_many_keys_to_name_are_covered_by_their_range():
    numbers = pa.array(range(KEYS_MAX + 1), pa.int64())
    texts = pa.array(map(str, range(KEYS_MAX + 1)))
    keys = pa.table({"a": texts, "b": numbers})
    assert key_predicate(keys, ("a", "b"), "datafusion") == f'"b" >= 0 AND "b" <= {KEYS_MAX}'
    with_null = pa.table({"b": pa.concat_arrays([numbers, pa.nulls(1, pa.int64())])})
    with pytest.raises(NotSmall):
        key_predicate(with_null, ("b",), "datafusion")


def test_names_and_texts_are_quoted():
    assert identifier("a`b") == "`a``b`"
    assert identifier('a"b', "datafusion") == '"a""b"'
    assert text_literal("a'b\\") == "'a\\'b\\\\'"
    assert text_literal("a'b\\", "datafusion") == "'a''b\\'"


def test_a_bag_of_nested_rows_is_changed_without_literals(deltalake, tmp_path):
    place = str(tmp_path / "t")
    rows = pa.table(
        {
            "x": pa.array([[1], [1], [2]], pa.list_(pa.int32())),
            "__st_sequence": [0] * 3,
            "__st_position": [0, 1, 2],
        }
    )
    deltalake.write_deltalake(place, rows)
    change = pa.table({"x": pa.array([[1]], pa.list_(pa.int32())), WEIGHT: [-1]})
    from tests.unit.engine.test_delta_log import stamp

    handle = small_hand.open_at(place, 0)
    done = small_hand.apply(handle, change, key_columns=None, stamp=stamp(1))
    assert isinstance(done, Applied)
    assert (done.rows_inserted, done.rows_deleted) == (0, 1)
    left = small_hand.read_keys(small_hand.open_at(place, 1), (), pa.table({})).rows
    assert sorted(left.column("x").to_pylist()) == [[1], [2]]
