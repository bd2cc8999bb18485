"""Plain conditions on Arrow rows."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from streamtables.compiler.algebra.plain_conditions import (
    Comparison,
    ConstantKind,
    PlainCondition,
)
from streamtables.engine.row_conditions import meeting

ROWS = pa.table(
    {
        "N": pa.array([-1, 0, 1, None, 2**63 - 1], pa.int64()),
        "c": pa.array([Decimal("-0.05"), Decimal("0.05"), Decimal("0.06"), None, Decimal("9.99")]),
        "d": pa.array([date(1582, 10, 4), date(2024, 2, 29), date(2024, 3, 1), None, date.max]),
        "s": pa.array(["", "a", "Z", None, "é"], pa.string()),
        "t": pa.array(["ab", "a\né", None, "ab.c", "xab"], pa.string()),
    }
)


@pytest.mark.parametrize(
    ("column", "comparison", "kind", "constants", "places"),
    [
        ("n", "=", "number", ["0"], [1]),
        ("n", ">", "number", ["-0.5"], [1, 2, 4]),
        ("n", "<=", "number", ["1"], [0, 1, 2]),
        ("n", "in", "number", ["-1", "0.5", "1"], [0, 2]),
        ("c", ">=", "number", ["0.05"], [1, 2, 4]),
        ("c", "<", "number", ["0.055"], [0, 1]),
        ("d", "<", "date", ["2024-03-01"], [0, 1]),
        ("d", "in", "date", ["2024-03-01", "9999-12-31"], [2, 4]),
        ("s", ">", "text", ["Z"], [1, 4]),
        ("s", "in", "text", ["", "é"], [0, 4]),
        ("t", "starts", "text", ["ab"], [0, 3]),
        ("t", "ends", "text", ["\né"], [1]),
        ("t", "contains", "text", ["b."], [3]),
    ],
)
def test_rows_that_meet_a_condition_are_kept(
    column: str,
    comparison: Comparison,
    kind: ConstantKind,
    constants: list[str],
    places: list[int],
):
    condition = PlainCondition(column, comparison, kind, tuple(constants))
    assert meeting(ROWS, [condition]).to_pylist() == ROWS.take(places).to_pylist()


def test_all_conditions_have_to_hold():
    both = [
        PlainCondition("n", ">=", "number", ("0",)),
        PlainCondition("s", "<", "text", ("b",)),
    ]
    assert meeting(ROWS, both).to_pylist() == ROWS.take([1, 2]).to_pylist()
    assert meeting(ROWS, []) is ROWS
