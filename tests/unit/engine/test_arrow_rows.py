"""Netting and matching by binary image, on Arrow alone."""

from __future__ import annotations

import struct
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_image import row_codes
from streamtables.engine.arrow_types import for_delta, for_spark
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import NotSmall
from streamtables.errors import InternalError

NAN = float("nan")
# Pairs of values that must, or must not, count as the same.
SAME = {
    "NaN of other bits": (
        pa.array([NAN, struct.unpack("<d", b"\x01\x00\x00\x00\x00\x00\xf8\xff")[0]]),
    ),
    "NULL": (pa.array([None, None], pa.string()),),
    "map in another order": (
        pa.array([[("a", 1), ("b", 2)], [("b", 2), ("a", 1)]], pa.map_(pa.string(), pa.int32())),
    ),
    "struct with NULL inside": (
        pa.array([{"a": None}, {"a": None}], pa.struct([("a", pa.int32())])),
    ),
    "string view": (pa.array(["x", "x"]).cast(pa.string_view()),),
    "list of NaN": (pa.array([[NAN, None], [NAN, None]], pa.list_(pa.float64())),),
    "decimal": (pa.array([Decimal("1.10"), Decimal("1.1")], pa.decimal128(38, 18)),),
}
DIFFERENT = {
    "the zeros": pa.array([0.0, -0.0]),
    "the zeros in a list": pa.array([[0.0], [-0.0]]),
    "the zeros in a struct": pa.array([{"a": 0.0}, {"a": -0.0}]),
    "the zeros in a map": pa.array(
        [[("k", 0.0)], [("k", -0.0)]], pa.map_(pa.string(), pa.float64())
    ),
    "NULL and a struct of NULL": pa.array([None, {"a": None}], pa.struct([("a", pa.int32())])),
    "NULL and an empty list": pa.array([None, []], pa.list_(pa.int32())),
    "NULL and an empty map": pa.array([None, []], pa.map_(pa.string(), pa.int32())),
    "NULL and a list of NULL": pa.array([[], [None]], pa.list_(pa.int32())),
    "map value and key": pa.array([[("a", 1)], [("a", 2)]], pa.map_(pa.string(), pa.int32())),
    "split of a list": pa.array([[["a"], ["b"]], [["a", "b"]]]),
    "NULL and the empty string": pa.array([None, ""]),
    "case": pa.array(["a", "A"]),
    "NULL and zero": pa.array([None, 0], pa.int64()),
    "NULL and NaN": pa.array([None, NAN], pa.float64()),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_images_have_equal_codes(name):
    codes = row_codes(pa.table({"x": SAME[name][0]}), ["x"])
    assert codes[0] == codes[1]


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_images_have_different_codes(name):
    codes = row_codes(pa.table({"x": DIFFERENT[name]}), ["x"])
    assert codes[0] != codes[1]


def test_a_slice_and_chunks_are_read_as_they_stand():
    kind = pa.map_(pa.string(), pa.list_(pa.int32()))
    whole = pa.array([[("z", [9])], [("a", [1, 2])], None, [("a", [1, 2])], []], kind)
    table = pa.table({"x": pa.chunked_array([whole.slice(1, 2), whole.slice(3)])})
    codes = row_codes(table, ["x"])
    assert codes[0] == codes[2]
    assert len(set(codes)) == 3


def test_netting_drops_what_cancels():
    table = pa.table(
        {"k": [1, 1, 2, 3, 3], "v": ["a", "a", "b", "c", "d"], WEIGHT: [1, -1, 2, -1, 1]}
    )
    rows = arrow_rows.net(table, ["k", "v"]).to_pylist()
    assert rows == [
        {"k": 2, "v": "b", WEIGHT: 2},
        {"k": 3, "v": "c", WEIGHT: -1},
        {"k": 3, "v": "d", WEIGHT: 1},
    ]


def test_netting_without_columns_adds_all_weights():
    table = pa.table({"k": [1, 2], WEIGHT: [2, -1]})
    assert arrow_rows.net(table, []).column(WEIGHT).to_pylist() == [1]


def test_netting_of_nothing_keeps_the_types():
    table = pa.table({"k": pa.array([], pa.int32()), WEIGHT: pa.array([], pa.int64())})
    assert arrow_rows.net(table, ["k"]).schema.field("k").type == pa.int32()


ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 0.0, -0.0, NAN, 1.5]),
        st.sampled_from([None, "", "a", "A"]),
        st.sampled_from([None, (), (None,), (1,), (1, 2)]),
        st.integers(-2, 2),
    ),
    max_size=30,
)


@given(ROWS)
def test_netting_agrees_with_a_count_of_rows(rows):
    table = pa.table(
        {
            "f": pa.array([row[0] for row in rows], pa.float64()),
            "s": pa.array([row[1] for row in rows], pa.string()),
            "l": pa.array(
                [None if row[2] is None else list(row[2]) for row in rows], pa.list_(pa.int32())
            ),
            WEIGHT: pa.array([row[3] for row in rows], pa.int64()),
        }
    )
    wanted: Counter[tuple[str, ...]] = Counter()
    for *values, weight in rows:
        wanted[tuple(map(repr, values))] += weight
    netted = arrow_rows.net(table, ["f", "s", "l"])
    seen = {
        tuple(map(repr, (row["f"], row["s"], None if row["l"] is None else tuple(row["l"])))): row[
            WEIGHT
        ]
        for row in netted.to_pylist()
    }
    assert seen == {key: weight for key, weight in wanted.items() if weight}


def test_subtracting_takes_as_many_rows_as_the_weight_says():
    stored = pa.table({"x": ["a", "a", "a", "b"]})
    kept, missing = arrow_rows.subtract(stored, pa.table({"x": ["a"], WEIGHT: [-2]}), ["x"])
    assert kept.column("x").to_pylist() == ["a", "b"]
    assert missing == 0


def test_subtracting_counts_what_is_not_there():
    stored = pa.table({"x": ["a"]})
    wanted = pa.table({"x": ["a", "z"], WEIGHT: [-3, -1]})
    kept, missing = arrow_rows.subtract(stored, wanted, ["x"])
    assert (kept.num_rows, missing) == (0, 3)


def test_the_oldest_of_equal_rows_are_found_first():
    stored = pa.table({"x": ["a"] * 4, "s": [2, 1, 1, 0], "p": [0, 5, 4, 9]})
    found, missing = arrow_rows.matches(
        stored, pa.table({"x": ["a"], WEIGHT: [-2]}), ["x"], order_by=("s", "p")
    )
    assert (list(found), missing) == ([2, 3], 0)


def test_rows_are_repeated_by_weight():
    table = pa.table({"x": ["a", "b"], WEIGHT: [2, 1]})
    assert arrow_rows.repeated(table).column("x").to_pylist() == ["a", "a", "b"]
    with pytest.raises(InternalError):
        arrow_rows.repeated(pa.table({"x": ["a"], WEIGHT: [-1]}))


def test_signs_are_split():
    table = pa.table({"x": ["a", "b"], WEIGHT: [2, -1]})
    appearing, going = arrow_rows.split_by_sign(table)
    assert (appearing.num_rows, going.num_rows) == (1, 1)


def test_spark_gets_types_it_reads():
    table = pa.table(
        {
            "s": pa.array(["x"], pa.string_view()),
            "l": pa.array([["x"]], pa.large_list(pa.large_string())),
            "d": pa.array(["x"]).dictionary_encode(),
            "t": pa.array([1], pa.timestamp("ms", "UTC")),
            "u": pa.array([1], pa.uint32()),
            "m": pa.array(
                [[("a", {"b": "c"})]], pa.map_(pa.string(), pa.struct([("b", pa.large_string())]))
            ),
        }
    )
    kinds = {field.name: field.type for field in for_spark(table).schema}
    assert kinds["s"] == pa.string()
    assert kinds["l"] == pa.list_(pa.string()) or kinds["l"].value_type == pa.string()
    assert kinds["d"] == pa.string()
    assert kinds["t"] == pa.timestamp("us", "UTC")
    assert kinds["u"] == pa.int64()
    assert kinds["m"].item_type == pa.struct([("b", pa.string())])


def test_a_value_that_does_not_fit_is_not_written():
    table = pa.table({"x": pa.array([2**40], pa.int64())})
    with pytest.raises(NotSmall):
        for_delta(table, pa.schema([("x", pa.int32())]))
