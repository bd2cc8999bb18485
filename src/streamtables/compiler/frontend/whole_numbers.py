"""Whole numbers that stand in a query, also as sums and products: those of LIMIT and range."""

from __future__ import annotations

import math
from collections.abc import Callable

from sqlglot import exp

_LARGEST = 2**31 - 1
_OPERATORS: dict[type[exp.Expr], Callable[[int, int], int]] = {
    exp.Add: lambda left, right: left + right,
    exp.Sub: lambda left, right: left - right,
    exp.Mul: lambda left, right: left * right,
    # The remainder has the sign of what is divided.
    exp.Mod: lambda left, right: int(math.fmod(left, right)),
}


def whole_number(expression: exp.Expr) -> int | None:
    """Return the INT that an expression of literals is; None for anything else.

    Division is left out: in Spark it gives no INT.
    """
    bare = expression.unnest()
    found: int | None = None
    if isinstance(bare, exp.Literal) and not bare.is_string and bare.name.isdigit():
        found = int(bare.name)
    elif isinstance(bare, exp.Neg) and (inner := whole_number(bare.this)) is not None:
        found = -inner
    elif (operator := _OPERATORS.get(type(bare))) is not None:
        left, right = whole_number(bare.this), whole_number(bare.expression)
        if left is not None and right is not None and not (isinstance(bare, exp.Mod) and not right):
            found = operator(left, right)
    return found if found is not None and abs(found) <= _LARGEST else None
