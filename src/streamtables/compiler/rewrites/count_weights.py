"""Count signed rows by adding up their weights, where nothing but counts is asked of them.

    count(X − ΔX) = Σ weights

An aggregate needs plain rows otherwise, which are netted and repeated first: a shuffle of the whole
table.  A count does not.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import (
    WEIGHT,
    Aggregate,
    AggregateCall,
    Filter,
    Node,
    Project,
    Projection,
    Unfold,
)
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.types import BIGINT

_ROWS = "__st_weights"


def only_counts(node: Aggregate) -> bool:
    """Whether every call of an aggregate is a count of rows."""
    return all(call.function == "count" and not call.distinct for call in node.calls)


def counted_weights(node: Aggregate) -> Node:
    """Return the plain groups of signed rows, of which only counts are asked."""
    rows = AggregateCall(_ROWS, "sum", (column(WEIGHT),), (BIGINT,), None, BIGINT)
    calls = tuple(_summed(call) for call in node.calls)
    summed: Node = Aggregate(Unfold(node.input), node.group, (rows, *calls))
    if node.group:
        # A group of which all rows went is none.
        summed = Filter(summed, exp.NEQ(this=column(_ROWS), expression=exp.Literal.number(0)))
    kept = [Projection(name, column(name), node.type_of(name)) for name in node.group]
    counts = [Projection(call.name, _or_zero(call.name), call.type) for call in node.calls]
    return Project(summed, (*kept, *counts))


def _summed(call: AggregateCall) -> AggregateCall:
    """Return the sum of the weights of the rows that a call counts."""
    present = [] if call.over_star else [_is_present(item) for item in call.arguments]
    conditions = [*([call.condition] if call.condition is not None else []), *present]
    counted = exp.and_(*conditions) if conditions else None
    return AggregateCall(call.name, "sum", (column(WEIGHT),), (BIGINT,), counted, BIGINT)


def _is_present(argument: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.paren(argument.copy()), expression=exp.null()))


def _or_zero(name: str) -> exp.Expr:
    zero = exp.cast(exp.Literal.number(0), "bigint", dialect="spark")
    return exp.Anonymous(this="coalesce", expressions=[column(name), zero])
