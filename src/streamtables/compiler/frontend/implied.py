"""Equalities that every branch of an OR asks for, which therefore hold wherever it is true.

    (a = b AND p) OR (a = b AND q)   is true only where   a = b

Said beside the OR, such an equality tells by which key a change on one side reaches the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from streamtables.compiler.frontend.expressions import conjuncts
from streamtables.compiler.types import UNKNOWN, SqlType


def with_implied(conditions: list[exp.Expr], types: Mapping[str, SqlType]) -> list[exp.Expr]:
    """Return the conditions, and the equalities of columns that follow from one of them."""
    said = {_sides(item) for item in conditions if _is_of_columns(item, types)}
    found: dict[frozenset[str], exp.Expr] = {}
    for condition in conditions:
        found |= {key: item for key, item in _implied(condition, types).items() if key not in said}
    return [*conditions, *(item.copy() for item in found.values())]


def _implied(condition: exp.Expr, types: Mapping[str, SqlType]) -> dict[frozenset[str], exp.Expr]:
    """Return the equalities that hold where a condition is true, by the names of their columns."""
    bare = condition.unnest()
    if isinstance(bare, exp.Or):
        left, right = _implied(bare.this, types), _implied(bare.expression, types)
        return {key: item for key, item in left.items() if key in right}
    if isinstance(bare, exp.And):
        return {
            key: item for part in conjuncts(bare) for key, item in _implied(part, types).items()
        }
    return {_sides(bare): bare} if _is_of_columns(bare, types) else {}


def _is_of_columns(condition: exp.Expr, types: Mapping[str, SqlType]) -> bool:
    """Whether a condition compares two columns of one type, which can never fail."""
    if not isinstance(condition, exp.EQ):
        return False
    sides = (condition.this, condition.expression)
    if not all(isinstance(side, exp.Column) for side in sides):
        return False
    ours, theirs = (types.get(side.name, UNKNOWN) for side in sides)
    return ours == theirs != UNKNOWN


def _sides(condition: exp.Expr) -> frozenset[str]:
    return frozenset((condition.this.name, condition.expression.name))
