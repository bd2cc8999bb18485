"""What becomes of a stored state on the driver: sums add, extremes improve or are lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamtables.compiler.maintenance import ROWS, StateColumn, StateShape, VisibleState
from streamtables.compiler.types import BIGINT, SqlType
from streamtables.engine.combine_state import combine_state, copied_rows
from streamtables.errors import TableDamagedError

INT = SqlType("int")


def shape(kind: Any = "min", *, grouped: bool = True) -> StateShape:
    states = (
        StateColumn(ROWS, BIGINT, ROWS),
        StateColumn("m", INT, "m_plus", "m_minus", kind, "c"),
        StateColumn("c", BIGINT, "c"),
    )
    shown = (VisibleState("shown_g", "g"), VisibleState("low", "m"))
    return StateShape((("g", "shown_g"),) if grouped else (), states, shown, not grouped)


def stored(*groups: tuple[Any, ...], kind: pa.DataType | None = None) -> pa.Table:
    """Rows of: group, extremum, how many values, how many rows."""
    columns = list(zip(*groups, strict=True)) if groups else [(), (), (), ()]
    types = (pa.string(), kind or pa.int32(), pa.int64(), pa.int64())
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    return pa.table(dict(zip(("shown_g", "m", "c", ROWS), arrays, strict=True)))


def moved(*groups: tuple[Any, ...], kind: pa.DataType | None = None) -> pa.Table:
    """Rows of: group, best that came, best that went, change of the values and of the rows."""
    columns = list(zip(*groups, strict=True))
    value = kind or pa.int32()
    types = (pa.string(), value, value, pa.int64(), pa.int64())
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    return pa.table(dict(zip(("g", "m_plus", "m_minus", "c", ROWS), arrays, strict=True)))


@pytest.mark.parametrize(
    ("old", "change", "expected"),
    [
        ((5, 2), (None, None, 0), 5),
        ((5, 2), (3, None, 1), 3),
        ((5, 2), (7, None, 1), 5),
        ((5, 2), (None, 7, -1), 5),
        ((5, 2), (9, 7, 0), 5),
        ((5, 2), (5, 5, 0), 5),
        ((5, 2), (4, 5, 0), 4),
        ((5, 2), (6, 5, 0), "lost"),
        ((5, 2), (None, 5, -1), "lost"),
        ((5, 1), (None, 5, -1), None),
        ((None, 0), (8, None, 1), 8),
        ((None, 0), (None, None, 0), None),
    ],
)
def test_a_least_value_improves_stays_or_is_lost(old, change, expected):
    value, count = old
    plus, minus, counted = change
    found = combine_state(
        moved(("a", plus, minus, counted, 0)), stored(("a", value, count, 9)), shape()
    )
    assert found.lost.num_rows == (expected == "lost")
    values = found.groups.column("m").to_pylist()
    assert values == ([] if expected == "lost" else [expected])


@pytest.mark.parametrize(
    ("plus", "minus", "expected"),
    [(9, 8, 9), (8, 8, 8), (7, 8, "lost"), (7, 6, 8), (None, 6, 8), (None, 8, "lost")],
)
def test_a_greatest_value_is_the_mirror_of_it(plus, minus, expected):
    found = combine_state(moved(("a", plus, minus, 0, 0)), stored(("a", 8, 3, 3)), shape("max"))
    values = found.groups.column("m").to_pylist()
    assert (values or ["lost"]) == [expected]


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (pa.string(), "B", "a"),
        (pa.string(), "z", "é"),
        (pa.large_string(), "", "a"),
        (pa.string_view(), "a", "b"),
        (pa.date32(), date(2024, 1, 1), date(2024, 1, 2)),
        (pa.timestamp("us", "UTC"), datetime(1, 1, 1, tzinfo=UTC), datetime(2, 1, 1, tzinfo=UTC)),
        (pa.timestamp("us"), datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 1)),  # noqa: DTZ001
        (pa.decimal128(38, 2), Decimal("-1.00"), Decimal("0.01")),
        (pa.bool_(), False, True),
        (pa.int64(), -(2**63), 2**63 - 1),
        (pa.int8(), -1, 0),
    ],
    ids=str,
)
def test_every_type_is_compared_in_its_own_order(kind, low, high):
    old = stored(("a", high, 1, 1), ("b", low, 2, 2), kind=kind)
    changes = moved(("a", low, None, 1, 1), ("b", high, low, 0, 0), kind=kind)
    found = combine_state(changes, old, shape())
    assert found.groups.column("m").to_pylist() == [low]
    assert found.lost.column("g").to_pylist() == ["b"]
    mirrored = combine_state(changes, old, shape("max"))
    assert mirrored.groups.column("m").to_pylist() == [high, high]
    assert mirrored.lost.num_rows == 0


def test_new_gone_null_and_lost_groups_are_told_apart():
    old = stored(("a", 1, 1, 1), (None, 2, 2, 2), ("c", 3, 2, 2))
    changes = moved(
        ("a", None, 1, -1, -1),
        (None, None, 2, -1, -1),
        ("c", None, 7, -1, -1),
        ("new", 4, None, 1, 1),
        ("empty", None, None, 0, 1),
    )
    found = combine_state(changes, old, shape())
    assert found.lost.column("g").to_pylist() == [None]
    rows = found.groups.select(["g", "m", "c", ROWS]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("c", 3, 1, 1),
        ("new", 4, 1, 1),
        ("empty", None, 0, 1),
    ]
    copied = copied_rows(found, shape())
    assert copied is not None
    assert copied.column("low").to_pylist() == [3, 4, None]


def test_the_one_row_of_a_global_extremum_stays_when_the_table_empties():
    narrow = stored(("", 5, 1, 1)).drop_columns(["shown_g"])
    gone = moved(("", None, 5, -1, -1)).drop_columns(["g"])
    found = combine_state(gone, narrow, shape(grouped=False))
    assert found.groups.column("m").to_pylist() == [None]
    assert found.lost.num_rows == 0
    wider = stored(("", 5, 2, 2)).drop_columns(["shown_g"])
    assert combine_state(gone, wider, shape(grouped=False)).lost.num_rows == 1


def test_no_contributions_change_nothing():
    empty = moved(("a", 1, 1, 1, 1)).slice(0, 0)
    found = combine_state(empty, stored(), shape())
    assert (found.groups.num_rows, found.lost.num_rows) == (0, 0)


def test_fewer_rows_than_none_are_damage():
    with pytest.raises(TableDamagedError):
        combine_state(moved(("a", None, 5, -1, -2)), stored(("a", 5, 1, 1)), shape())
