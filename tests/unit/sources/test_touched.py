"""Which columns signed rows touch, compared with what a reader of any columns would see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamtables.engine.arrow_rows import net
from streamtables.engine.names import WEIGHT
from streamtables.sources.postgres.touched import touched_columns

COLUMNS = ("a", "b", "c")
VALUES = st.sampled_from([None, 0, 1])
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES, st.sampled_from([-1, 1])), max_size=6)


def signed(rows: Sequence[tuple[int | None, ...]]) -> pa.Table:
    schema = pa.schema([(name, pa.int64()) for name in (*COLUMNS, WEIGHT)])
    values = [[row[n] for row in rows] for n in range(len(COLUMNS) + 1)]
    return pa.table([pa.array(column, pa.int64()) for column in values], schema=schema)


@given(rows=ROWS)
def test_readers_of_other_columns_see_nothing(rows: Sequence[tuple[int | None, ...]]) -> None:
    table = signed(rows)
    touched = touched_columns(table)
    if touched is None:
        return
    others = [name for name in COLUMNS if name not in touched]
    for count in range(len(others) + 1):
        for columns in combinations(others, count):
            assert net(table, columns).num_rows == 0


def test_an_update_touches_the_columns_that_differ():
    assert touched_columns(signed([(1, 0, 0, -1), (1, 1, 0, 1)])) == frozenset("b")


def test_a_row_that_comes_or_goes_touches_all():
    assert touched_columns(signed([(1, 0, 0, 1)])) is None
    assert touched_columns(signed([(1, 0, 0, -1)])) is None
    assert touched_columns(signed([(1, 0, 0, -1), (2, 1, None, 1)])) == frozenset("abc")


def test_rows_that_exchange_two_values_give_no_answer():
    rows = [(1, 0, 0, -1), (2, 1, 1, -1), (2, 0, 0, 1), (1, 1, 1, 1)]
    assert touched_columns(signed(rows)) is None


def test_no_rows_touch_nothing():
    assert touched_columns(signed([])) == frozenset()
