"""Rows that a predicate covers beside those that are named: they stay."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from streamtables.engine import arrow_rows, key_predicate, small_hand

deltalake = pytest.importorskip("deltalake")

KEY = ("g", "d")
DAYS = (date(2024, 1, 1), date(2024, 1, 2))


def grid() -> pa.Table:
    """Every text with every day, so that lists of both cover more than some pairs."""
    pairs = [(text, day) for text in "ab" for day in DAYS]
    texts, days = zip(*pairs, strict=True)
    return pa.table({"g": texts, "d": pa.array(days, pa.date32()), "n": range(4)})


def test_named_rows_are_those_of_the_keys_alone(tmp_path):
    place = str(tmp_path / "t")
    deltalake.write_deltalake(place, grid())
    keys = grid().take([0, 3]).select(list(KEY))
    covered = small_hand.read_keys(small_hand.open_at(place, 0), KEY, keys)
    assert covered.rows.num_rows == 4
    assert sorted(covered.named.column("n").to_pylist()) == [0, 3]


def test_past_the_keys_that_can_be_listed_a_range_covers_what_lies_between(tmp_path, monkeypatch):
    monkeypatch.setattr(key_predicate, "KEYS_MAX", 2)
    place = str(tmp_path / "t")
    deltalake.write_deltalake(place, pa.table({"k": list(range(10))}))
    wanted = pa.table({"k": [1, 5, 8]})
    covered = small_hand.read_keys(small_hand.open_at(place, 0), ("k",), wanted)
    assert covered.rows.num_rows == 8
    assert sorted(covered.named.column("k").to_pylist()) == [1, 5, 8]


@pytest.mark.parametrize(
    ("values", "named", "found"),
    [
        (pa.array([0.0, -0.0, 1.0, None]), pa.array([-0.0]), [0, 1]),
        (pa.array([float("nan"), 1.0, None]), pa.array([float("nan")]), [0]),
        (pa.array([1.0, None]), pa.array([None], pa.float64()), [1]),
        (pa.array([Decimal("1.0"), Decimal("2.0")]), pa.array([Decimal("2.0")]), [1]),
        (pa.array(["a", "A", None]), pa.array(["A"]), [1]),
    ],
)
def test_groups_are_those_of_spark(values, named, found):
    rows = pa.table({"k": values, "n": range(len(values))})
    rows_found = arrow_rows.of_groups(rows, pa.table({"k": named}), ["k"])
    assert rows_found.column("n").to_pylist() == found


def test_all_rows_of_a_group_belong_to_it():
    rows = pa.table({"k": [1, 1, 2], "n": [0, 1, 2]})
    found = arrow_rows.of_groups(rows, pa.table({"k": [1]}), ["k"])
    assert found.column("n").to_pylist() == [0, 1]
