"""Aggregates in Python that a process brings along: each call carries the type it returns.

Spark runs them by themselves: without DISTINCT and FILTER, and never beside aggregates of its own.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.types import SqlType, normal_type
from streamtables.errors import SqlTypeError

_RETURNS = "own_aggregate_returns"


def as_own_aggregate(call: exp.Anonymous, returns: str) -> exp.Anonymous:
    """Return a call that the rest of the compiler knows for an aggregate."""
    call.meta[_RETURNS] = returns
    return call


def own_type(call: exp.Expr) -> SqlType | None:
    """Return the type that an own aggregate gives; None for any other expression."""
    returns = call.meta.get(_RETURNS) if isinstance(call, exp.Anonymous) else None
    return None if returns is None else normal_type(returns)


def is_floating(type_: SqlType) -> bool:
    """Whether a value holds floats, whose last digits may depend on the order of the rows."""
    return "double" in type_ or "float" in type_


def check_own_aggregates(
    calls: list[exp.Expr], *, grouped: bool, outermost: bool, binding: Binding
) -> None:
    """Refuse own aggregates where Spark has no answer, or not the same in every place."""
    for call in calls:
        # PIVOT is written with FILTER, which no user can put there.
        if isinstance(call, exp.Filter) and own_type(call.this) is not None:
            raise binding.unsupported("an aggregate in Python inside PIVOT", call.this)
    own = [call for call in calls if own_type(call) is not None]
    if not own:
        return
    if len(own) < len(calls):
        raise SqlTypeError(
            f'"{own[0].name}" cannot stand beside an aggregate of Spark',
            sql=binding.sql,
            span=span_of(own[0]),
            detail="Spark computes aggregates in Python by themselves.",
            hint="Compute the others in a subquery of their own, and join the two.",
        )
    if not grouped and not outermost:
        # Over no rows Spark has no row for it, but counts one where nobody reads the value.
        raise binding.unimplemented(f'"{own[0].name}" without GROUP BY inside a query', own[0])
