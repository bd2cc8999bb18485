"""Attaching subqueries to a relation: each becomes a join, and adds the column that stands for it.

A subquery alone in a condition needs no column: EXISTS and IN are then semi joins, NOT EXISTS and
NOT IN anti joins.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Filter,
    InnerJoin,
    Node,
    Project,
    Projection,
)
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.correlation import (
    CannotPullUpError,
    Pulled,
    free_columns,
    pull_up,
)
from streamtables.compiler.frontend.expressions import check_condition, check_types, conjuncts
from streamtables.compiler.frontend.probes import existence, mark, with_column
from streamtables.compiler.frontend.scalar_subquery import with_scalar
from streamtables.compiler.frontend.subqueries import Subqueries, Subquery
from streamtables.compiler.frontend.unnest import Domain, dependent
from streamtables.compiler.types import BIGINT, BOOLEAN


def attached(node: Node, subqueries: Subqueries, binding: Binding) -> Node:
    """Return the relation with the column of every subquery."""
    for subquery in subqueries.found:
        node = _with_value(node, subquery, binding)
    return node


def filtered(node: Node, condition: exp.Expr, subqueries: Subqueries, binding: Binding) -> Node:
    """Return the rows of the relation for which a condition with subqueries is true."""
    bare, negated = _without_not(condition)
    if len(subqueries.found) == 1 and isinstance(bare, exp.Column):
        (only,) = subqueries.found
        if only.name == bare.name and only.kind == "exists":
            return _exists(node, only, binding, negated=negated)
        if only.name == bare.name and only.kind == "any" and not negated:
            right, conditions = right_side(node, only.bound.node, binding)
            conditions += _compared(only, only.bound)
            return existence(node, right, conditions, "semi", binding)
    ready = attached(node, subqueries, binding)
    for part in conjuncts(condition):
        check_condition(part, binding.types_of(ready), binding)
        check_types(part, binding.types_of(ready), binding)
    return Filter(ready, condition)


def _without_not(condition: exp.Expr) -> tuple[exp.Expr, bool]:
    bare, negated = condition.unnest(), False
    while isinstance(bare, exp.Not):
        bare, negated = bare.this.unnest(), not negated
    return bare, negated


def _with_value(node: Node, subquery: Subquery, binding: Binding) -> Node:
    match subquery.kind:
        case "scalar":
            return with_scalar(node, subquery, binding)
        case "exists":
            return _with_exists(node, subquery, binding)
        case _:
            return _with_any(node, subquery, binding)


def right_side(node: Node, inner: Node, binding: Binding) -> tuple[Node, list[exp.Expr]]:
    """Return a subquery as a relation of its own, and how its rows belong to those of `node`."""
    try:
        pulled: Pulled = pull_up(inner, binding)
    except CannotPullUpError:
        taken = free_columns(inner) & set(node.names)
        if not taken:
            # Only columns of queries further out are free: those are for their own level.
            return inner, []
        right, meaning = dependent(inner, Domain.of(node, taken, binding))
        same = [
            exp.NullSafeEQ(this=column(name), expression=column(here))
            for name, here in meaning.items()
        ]
        return right, list(same)
    return pulled.node, list(pulled.conditions)


# EXISTS


def _exists(node: Node, subquery: Subquery, binding: Binding, *, negated: bool) -> Node:
    right, conditions = right_side(node, _any_rows(subquery.bound.node), binding)
    if not conditions:
        ready = _with_exists(node, subquery, binding)
        found: exp.Expr = column(subquery.name)
        return Filter(ready, exp.Not(this=found) if negated else found)
    return existence(node, right, conditions, "anti" if negated else "semi", binding)


def _with_exists(node: Node, subquery: Subquery, binding: Binding) -> Node:
    right, conditions = right_side(node, _any_rows(subquery.bound.node), binding)
    if conditions:
        return replace(mark(node, right, conditions, binding), mark=subquery.name)
    # Without a condition all rows share one answer, which changes with the first and last row.
    count = AggregateCall(
        binding.namer.fresh("rows"), "count", (exp.Star(),), (BIGINT,), None, BIGINT
    )
    some = exp.GT(this=column(count.name), expression=exp.Literal.number(0))
    answer = Project(Aggregate(right, (), (count,)), (Projection(subquery.name, some, BOOLEAN),))
    return InnerJoin((node, answer), ())


def _any_rows(node: Node) -> Node:
    """EXISTS does not look at the select list, so nothing in it needs to be computed."""
    while isinstance(node, Project):
        node = node.input
    return node


# IN, ANY


def _compared(subquery: Subquery, bound: Bound) -> list[exp.Expr]:
    return [
        subquery.operator(this=operand.copy(), expression=column(shown.inner))
        for operand, shown in zip(subquery.operands, bound.columns, strict=True)
    ]


def _with_any(node: Node, subquery: Subquery, binding: Binding) -> Node:
    """Add the answer: true, else unknown when some comparison is NULL, else false."""
    right, conditions = right_side(node, subquery.bound.node, binding)
    compared = _compared(subquery, subquery.bound)
    found = mark(node, right, [*conditions, *compared], binding)
    if subquery.unknown is False:
        return replace(found, mark=subquery.name)
    unknown, ready = _with_unknown(found, subquery, right, conditions, binding)
    answer = exp.Case(
        ifs=[
            exp.If(this=column(found.mark), true=exp.true()),
            exp.If(this=unknown, true=_unknown_value(subquery)),
        ],
        default=exp.false(),
    )
    return with_column(ready, Projection(subquery.name, answer, BOOLEAN))


def _unknown_value(subquery: Subquery) -> exp.Expr:
    if subquery.unknown is None:
        return exp.cast(exp.null(), "boolean", dialect="spark")
    return exp.true() if subquery.unknown else exp.false()


def _with_unknown(
    node: Node,
    subquery: Subquery,
    right: Node,
    conditions: list[exp.Expr],
    binding: Binding,
) -> tuple[exp.Expr, Node]:
    """Return an expression that says whether a comparison is NULL, and the relation it is over."""
    if len(subquery.operands) == 1 and not conditions:
        return _unknown_from_counts(node, subquery, right, binding)
    possible = [
        exp.Anonymous(this="coalesce", expressions=[item, exp.true()])
        for item in _compared(subquery, subquery.bound)
    ]
    marked = mark(node, right, [*conditions, *possible], binding)
    return column(marked.mark), marked


def _unknown_from_counts(
    node: Node, subquery: Subquery, right: Node, binding: Binding
) -> tuple[exp.Expr, Node]:
    """One comparison is NULL when the operand is and there are rows, or when one of the rows is.

    Whether there are rows, and whether one is NULL, seldom changes, whatever the rows do.
    """
    value = subquery.bound.columns[0]
    rows, present = binding.namer.fresh("rows"), binding.namer.fresh("present")
    calls = (
        AggregateCall(rows, "count", (exp.Star(),), (BIGINT,), None, BIGINT),
        AggregateCall(present, "count", (column(value.inner),), (value.type,), None, BIGINT),
    )
    some, gap = binding.namer.fresh("some"), binding.namer.fresh("gap")
    facts = Project(
        Aggregate(right, (), calls),
        (
            Projection(some, exp.GT(this=column(rows), expression=exp.Literal.number(0)), BOOLEAN),
            Projection(gap, exp.LT(this=column(present), expression=column(rows)), BOOLEAN),
        ),
    )
    operand = exp.paren(subquery.operands[0].copy(), copy=False)
    missing = exp.Is(this=operand, expression=exp.null())
    unknown = exp.or_(column(gap), exp.and_(missing, column(some)))
    return unknown, InnerJoin((node, facts), ())
