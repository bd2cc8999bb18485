"""Calls of the current time: each becomes an expression over the moment of the refresh."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import Clock
from streamtables.compiler.frontend.binding import Binding, Bound
from streamtables.compiler.frontend.functions import CLOCK
from streamtables.compiler.frontend.scope import Visible
from streamtables.compiler.frontend.subqueries import Subqueries, Subquery
from streamtables.compiler.types import TIMESTAMP


def clock_call(node: exp.Expr) -> str | None:
    """Return which call of the current time this is; None for anything else."""
    if isinstance(node, exp.CurrentDate):
        return "current_date"
    if isinstance(node, exp.CurrentTimestamp):
        return "current_timestamp"
    if not isinstance(node, exp.Anonymous):
        return None
    name = str(node.this).lower()
    with_arguments = name == "unix_timestamp" and bool(node.expressions)
    return name if name in CLOCK and not with_arguments else None


def with_moments(expression: exp.Expr, found: Subqueries, binding: Binding) -> exp.Expr:
    """Return an expression with its calls of the current time over the clock."""

    def put(node: exp.Expr) -> exp.Expr:
        call = clock_call(node)
        return node if call is None else at_the_moment(call, found, binding)

    return expression.copy().transform(put)


def is_moment(subquery: Subquery) -> bool:
    """Whether a subquery is the clock."""
    return isinstance(subquery.bound.node, Clock)


def another_moment(subquery: Subquery, binding: Binding) -> Subquery:
    """Return the clock under another name, for another relation to attach."""
    return replace(subquery, name=binding.namer.fresh("scalar"), bound=_clock(binding))


def at_the_moment(call: str, found: Subqueries, binding: Binding) -> exp.Expr:
    """Return a call of the current time over the clock, which is attached like a subquery."""
    known = next(filter(is_moment, found.found), None) if found.one_moment else None
    now = found.add("scalar", _clock(binding), binding) if known is None else known.reference()
    match call:
        case "current_date" | "curdate":
            return exp.cast(now, "date", dialect="spark")
        case "localtimestamp":
            return exp.cast(now, "timestamp_ntz", dialect="spark")
        case "current_time":
            raise binding.unimplemented("the type TIME", None, word="current_time")
        case "unix_timestamp":
            return exp.Anonymous(this="unix_timestamp", expressions=[now])
        case _:
            return now


def _clock(binding: Binding) -> Bound:
    name = binding.namer.fresh("now")
    return Bound(Clock(name), (Visible("now", name, TIMESTAMP),))
