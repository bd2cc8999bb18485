"""Calls of the current time: each becomes an expression over the moment of the refresh."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Clock
from streamtables.compiler.frontend.binding import Binding, Bound
from streamtables.compiler.frontend.functions import CLOCK
from streamtables.compiler.frontend.scope import Visible
from streamtables.compiler.frontend.subqueries import Subqueries
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


def at_the_moment(call: str, found: Subqueries, binding: Binding) -> exp.Expr:
    """Return a call of the current time over the clock, which is attached like a subquery."""
    name = binding.namer.fresh("now")
    now = found.add("scalar", Bound(Clock(name), (Visible("now", name, TIMESTAMP),)), binding)
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
