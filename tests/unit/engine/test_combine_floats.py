"""Sums of floats on the driver: added while they are known to enough digits, else lost."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.compiler.maintenance import FLOAT_TOLERANCE, ROWS, StateColumn, StateShape
from streamtables.compiler.types import BIGINT, DOUBLE
from streamtables.engine.combine_state import combine_state

INFINITY, NAN = math.inf, math.nan
SHAPE = StateShape(
    (("g", "g"),),
    (
        StateColumn(ROWS, BIGINT, ROWS),
        StateColumn("s", DOUBLE, "plus", "minus", "float-sum", "n", "off", "special"),
        StateColumn("off", DOUBLE, "moved", kind="float-error"),
        StateColumn("special", BIGINT, "special"),
        StateColumn("n", BIGINT, "n"),
    ),
    None,
    single_row=False,
)


def stored(values: list[float]) -> pa.Table:
    """One group as it is filled."""
    return filled(math.fsum(filter(math.isfinite, values)), values)


def filled(total: float, values: list[float], off: float = 0.0) -> pa.Table:
    special = sum(not math.isfinite(value) for value in values)
    columns = {"s": total, "off": off, "special": special, "n": len(values), ROWS: len(values)}
    return pa.table({"g": ["a"], **{name: [value] for name, value in columns.items()}})


def contributed(came: list[float], went: list[float]) -> pa.Table:
    plus, minus = (sum(filter(math.isfinite, values)) for values in (came, went))
    moved = sum(abs(value) for value in (*came, *went) if math.isfinite(value))
    counted = len(came) - len(went)
    special = sum(not math.isfinite(value) for value in came)
    special -= sum(not math.isfinite(value) for value in went)
    columns: dict[str, Any] = {ROWS: counted, "n": counted, "special": special}
    columns |= {"plus": float(plus), "minus": float(minus), "moved": float(moved)}
    return pa.table({"g": ["a"], **{name: [value] for name, value in columns.items()}})


@pytest.mark.parametrize(
    ("values", "came", "went", "expected"),
    [
        ([0.5, 1.5], [1.0], [], 3.0),
        ([0.5, 1.5], [], [0.5], 1.5),
        ([0.5, 1.5], [1.0], [1.0, 0.5, 1.5], None),
        ([1.0], [1e20], [], 1e20),
        ([1e20, 1.0], [], [1e20], "lost"),
        ([1.0, -1.0], [0.1], [0.1], "lost"),
        ([1.0], [INFINITY], [], "lost"),
        ([1.0, INFINITY], [], [INFINITY], 1.0),
        ([1.0, NAN], [2.0], [], "lost"),
        ([1.0, NAN], [2.0], [NAN], 3.0),
        ([1e308], [1e308], [], "lost"),
        ([NAN], [], [NAN], None),
    ],
)
def test_one_change(values: list[float], came: list[float], went: list[float], expected: Any):
    found = combine_state(contributed(came, went), stored(values), SHAPE)
    if expected == "lost":
        assert found.lost.num_rows == 1
    elif expected is None:
        assert found.groups.num_rows == found.lost.num_rows == 0
    else:
        assert found.groups.column("s").to_pylist() == [expected]


def test_a_group_in_which_no_float_moved_stays_as_it_is():
    change = contributed([0.0], [0.0])
    found = combine_state(change, filled(0.25, [0.25], off=1.0), SHAPE)
    assert found.groups.select(["s", "off"]).to_pylist() == [{"s": 0.25, "off": 1.0}]


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([INFINITY, -INFINITY, NAN, 1e20, -1e20, 0.1, 1e-9, 0.0, -0.0]),
)


@given(st.lists(NUMBERS, max_size=6), st.lists(st.tuples(st.lists(NUMBERS, max_size=4), st.data())))
def test_what_is_not_lost_is_right_to_enough_digits(start: list[float], steps: Any):
    values, state = list(start), stored(start)
    for came, data in steps:
        went = data.draw(st.lists(st.sampled_from(values), max_size=3)) if values else []
        went = _present(values, went)
        rest = list(values)
        for value in went:
            rest.pop(_place(rest, value))
        values = rest + came
        found = combine_state(contributed(came, went), state, SHAPE)
        if not values:
            assert found.groups.num_rows == 0
        elif found.lost.num_rows:
            state = stored(values)
            continue
        else:
            [row] = found.groups.to_pylist()
            exact = math.fsum(values)
            assert row["special"] == 0
            assert abs(row["s"] - exact) <= 2 * FLOAT_TOLERANCE * abs(exact)
        state = found.groups.select(state.column_names)


def _place(values: list[float], value: float) -> int:
    return next(i for i, other in enumerate(values) if repr(other) == repr(value))


def _present(values: list[float], wanted: list[float]) -> list[float]:
    left, found = list(values), []
    for value in wanted:
        if any(repr(other) == repr(value) for other in left):
            left.pop(_place(left, value))
            found.append(value)
    return found
