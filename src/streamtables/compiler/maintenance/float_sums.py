"""Sums and averages of floats that are kept by adding, within a bound, where the user asks for it.

    sum′ = sum + plus − minus

Adding and taking away rounds, so the state also keeps by how much the sum may be off by now.  Past
`FLOAT_TOLERANCE` of the sum its group is *lost*, and computed again from its rows: 1e20 that comes
and goes takes the digits of everything beside it along, and the bound shows it.  So the stored sum
differs from Spark's own by less than two orders of adding the rows may differ anyway.

Infinity and NaN would stay in a sum for ever.  They are left out of it and counted; a group that
holds one is computed again at each change.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import AggregateCall
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.state_shape import (
    Parts,
    StateColumn,
    moved_count,
    plus_and_minus,
    where_some,
)
from streamtables.compiler.types import BIGINT, DOUBLE

FLOAT_TOLERANCE = 1e-10
"""By which part of itself a stored sum may be off; a tenth of what `verify` allows."""


def is_float_sum(call: AggregateCall) -> bool:
    """Whether an aggregate is a sum of floats that may be kept by adding."""
    return call.approximate


def float_parts(call: AggregateCall, count: str, total: str) -> Parts:
    """Take a sum or an average of floats apart."""
    error, special = f"{total}_error", f"{total}_special"
    exact = replace(call, approximate=False)
    condition = _and(exact.condition, _is_finite(call))
    value = exp.cast(call.arguments[0].copy(), DOUBLE, dialect="spark")
    summed = replace(
        exact, name=total, function="sum", type=DOUBLE, arguments=(value,), condition=condition
    )
    moved = replace(summed, name=f"{total}_moved", arguments=(exp.Abs(this=value.copy()),))
    plus, minus = plus_and_minus(summed, total)
    counted = replace(exact, name=count, function="count", type=BIGINT)
    beyond = exp.Not(this=exp.paren(_is_finite(call), copy=False))
    nothing = exp.cast(exp.Literal.number(0), DOUBLE, dialect="spark")
    return Parts(
        states=(
            StateColumn(total, DOUBLE, plus.name, minus.name, "float-sum", count, error, special),
            StateColumn(error, DOUBLE, moved.name, kind="float-error"),
            StateColumn(special, BIGINT, special),
            StateColumn(count, BIGINT, count),
        ),
        contributed=(
            plus,
            minus,
            moved,
            moved_count(exact, special, beyond),
            moved_count(exact, count),
        ),
        filled=(
            summed,
            replace(summed, name=error, arguments=(nothing,)),
            replace(counted, name=special, condition=_and(exact.condition, beyond.copy())),
            counted,
        ),
        value=where_some(_value(call, total, count), count),
        copy=(total, count) if call.function == "sum" else None,
    )


def _value(call: AggregateCall, total: str, count: str) -> exp.Expr:
    if call.function == "sum":
        return column(total)
    return exp.Div(this=column(total), expression=exp.cast(column(count), DOUBLE, dialect="spark"))


def _is_finite(call: AggregateCall) -> exp.Expr:
    # NaN is greater than every other value, in Spark and in DuckDB.
    value = exp.cast(call.arguments[0].copy(), DOUBLE, dialect="spark")
    infinity = exp.cast(exp.Literal.string("Infinity"), DOUBLE, dialect="spark")
    return exp.LT(this=exp.Abs(this=value), expression=infinity)


def _and(condition: exp.Expr | None, more: exp.Expr) -> exp.Expr:
    if condition is None:
        return more
    return exp.and_(exp.paren(condition.copy(), copy=False), more)
