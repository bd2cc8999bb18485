"""What an aggregate is over no rows at all: a number for those that count, NULL for the others."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import AggregateCall

_ZERO = frozenset({"count", "count_if", "approx_count_distinct", "regr_count"})
_NO_ITEMS = frozenset({"collect_list", "collect_set", "array_agg"})


def value_of_nothing(call: AggregateCall) -> exp.Expr:
    """Return the value of an aggregate over no rows."""
    if call.function in _ZERO:
        return exp.cast(exp.Literal.number(0), "bigint", dialect="spark")
    if call.function in _NO_ITEMS:
        return exp.Anonymous(this="array", expressions=[])
    return exp.null()


def over_nothing(call: AggregateCall, value: exp.Expr) -> exp.Expr:
    """Return a value that is NULL where a group has no rows, with the value of nothing instead."""
    nothing = value_of_nothing(call)
    if isinstance(nothing, exp.Null):
        return value
    return exp.Anonymous(this="coalesce", expressions=[value, nothing])
