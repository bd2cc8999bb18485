"""Plain conditions on Arrow rows: those that every reader judges alike.

Rows as they were are told from rows as they are and changes, so all of them are judged here, by the
same comparison: a row that both hold is kept in both or in none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.algebra.plain_conditions import ConstantKind, PlainCondition

# Holds every whole number, and every decimal that is compared, without losing a digit.
_NUMBER = pa.decimal128(38, 18)
_READ: dict[ConstantKind, tuple[pa.DataType, Callable[[str], object]]] = {
    "number": (_NUMBER, Decimal),
    "date": (pa.date32(), date.fromisoformat),
    "text": (pa.string(), str),
}
_COMPARE: dict[str, Callable[[pa.ChunkedArray, pa.Scalar], pa.ChunkedArray]] = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "starts": lambda texts, text: pc.starts_with(texts, pattern=text.as_py()),
    "ends": lambda texts, text: pc.ends_with(texts, pattern=text.as_py()),
    "contains": lambda texts, text: pc.match_substring(texts, pattern=text.as_py()),
}


def meeting(rows: pa.Table, conditions: Sequence[PlainCondition]) -> pa.Table:
    """Return the rows that meet every condition; NULL meets none.  Names compare without case."""
    return rows.filter(meets(rows, conditions)) if conditions else rows


def meets(rows: pa.Table, conditions: Sequence[PlainCondition]) -> pa.ChunkedArray:
    """Return for each row whether it meets every condition, of which there is one at least.

    Never NULL: what somebody else asks for would be lost in it.
    """
    names = {name.lower(): name for name in rows.column_names}
    each = (_met(rows.column(names[item.column.lower()]), item) for item in conditions)
    return pc.fill_null(reduce(pc.and_, each), False)


def _met(column: pa.ChunkedArray, condition: PlainCondition) -> pa.ChunkedArray:
    kind, read = _READ[condition.kind]
    constants = pa.array([read(text) for text in condition.constants], kind)
    values = column.cast(kind)
    if condition.comparison == "in":
        return pc.and_(pc.is_in(values, value_set=constants), pc.is_valid(values))
    return _COMPARE[condition.comparison](values, constants[0])
