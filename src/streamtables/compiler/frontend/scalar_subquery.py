"""A scalar subquery as a join: its one value beside each row, NULL where it has no row.

More than one row is an error when it happens.  An aggregate without GROUP BY always has exactly one
row; tied to the outer row by equalities it becomes a grouped aggregate, and an outer row without a
group gets the aggregate's value over nothing: 0 for a count.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Clock,
    InnerJoin,
    Node,
    Project,
    Projection,
)
from streamtables.compiler.algebra.promised import has_made_key
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.correlation import (
    CannotPullUpError,
    Pulled,
    free_columns,
    pulled_keys,
    substituted,
)
from streamtables.compiler.frontend.empty_groups import value_of_nothing
from streamtables.compiler.frontend.probes import left_join, with_column
from streamtables.compiler.frontend.subqueries import Subquery
from streamtables.compiler.frontend.unnest import Domain, dependent
from streamtables.compiler.types import BIGINT, BOOLEAN, UNKNOWN

_TOO_MANY = "streamtables: a scalar subquery returned more than one row"


def with_scalar(node: Node, subquery: Subquery, binding: Binding) -> Node:
    """Return the relation with the value of a scalar subquery as one more column."""
    inner = subquery.bound.node
    value = subquery.bound.columns[0].inner
    if not free_columns(inner):
        single = _one_row(inner, value, subquery, binding)
        return InnerJoin((node, single), ())
    try:
        if (found := _global_aggregate(inner, value)) is not None:
            return _with_grouped(node, *found, subquery, binding)
        return _with_looked_up(node, value, subquery, binding)
    except CannotPullUpError:
        return _with_each(node, value, subquery, binding)


def _one_row(inner: Node, value: str, subquery: Subquery, binding: Binding) -> Node:
    """Return a relation of exactly one row that holds the value."""
    if isinstance(inner, Clock) or _global_aggregate(inner, value) is not None:
        return Project(inner, (Projection(subquery.name, column(value), subquery.type),))
    return _at_most_one(inner, value, (), subquery, binding)


def _at_most_one(
    inner: Node, value: str, keys: tuple[str, ...], subquery: Subquery, binding: Binding
) -> Project:
    """Return the value per key; more than one row for a key is an error."""
    only, rows = binding.namer.fresh("only"), binding.namer.fresh("rows")
    type_ = subquery.type
    calls = (
        AggregateCall(only, "any_value", (column(value),), (type_,), None, type_),
        AggregateCall(rows, "count", (exp.Star(),), (BIGINT,), None, BIGINT),
    )
    grouped = Aggregate(inner, keys, calls)
    wrong = exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(_TOO_MANY)])
    checked = exp.Case(
        ifs=[
            exp.If(
                this=exp.GT(this=column(rows), expression=exp.Literal.number(1)),
                true=wrong if type_ == UNKNOWN else exp.cast(wrong, type_, dialect="spark"),
            )
        ],
        default=column(only),
    )
    passed = tuple(Projection(name, column(name), inner.type_of(name)) for name in keys)
    return Project(grouped, (*passed, Projection(subquery.name, checked, type_)))


def _global_aggregate(inner: Node, value: str) -> tuple[Aggregate, exp.Expr] | None:
    """Return the aggregate that gives the one row, and the value over its columns."""
    expression: exp.Expr = column(value)
    node = inner
    while isinstance(node, Project):
        expression = substituted(
            expression, {item.name: item.expression for item in node.projections}
        )
        node = node.input
    if isinstance(node, Aggregate) and not node.group:
        return node, expression
    return None


def _with_grouped(
    node: Node,
    aggregate: Aggregate,
    value: exp.Expr,
    subquery: Subquery,
    binding: Binding,
) -> Node:
    pulled, keys = pulled_keys(aggregate.input, binding)
    grouped: Node = replace(aggregate, input=pulled.node, group=keys)
    over_nothing = {call.name: value_of_nothing(call) for call in aggregate.calls}
    without = substituted(value, over_nothing)
    if isinstance(without.unnest(), exp.Null):
        joined: Node = left_join(node, grouped, list(pulled.conditions), binding)
        answer = value
    else:
        found = binding.namer.fresh("found")
        grouped = with_column(grouped, Projection(found, exp.true(), BOOLEAN))
        joined = left_join(node, grouped, list(pulled.conditions), binding)
        there = exp.If(this=column(found), true=value)
        answer = exp.Case(ifs=[there], default=without)
    return with_column(joined, Projection(subquery.name, answer, subquery.type))


def _with_looked_up(node: Node, value: str, subquery: Subquery, binding: Binding) -> Node:
    pulled: Pulled
    pulled, keys = pulled_keys(subquery.bound.node, binding)
    own = pulled.node.key
    if own is not None and set(own) <= set(keys) and has_made_key(pulled.node):
        name = column(value)
        passed = tuple(Projection(key, column(key), pulled.node.type_of(key)) for key in keys)
        single = Project(pulled.node, (*passed, Projection(subquery.name, name, subquery.type)))
    else:
        single = _at_most_one(pulled.node, value, keys, subquery, binding)
    return left_join(node, single, list(pulled.conditions), binding)


def _with_each(node: Node, value: str, subquery: Subquery, binding: Binding) -> Node:
    """The general way: the subquery for every value that its outer columns have."""
    inner = subquery.bound.node
    taken = free_columns(inner) & set(node.names)
    if not taken:
        # Only columns of queries further out are free: the level they belong to unnests them.
        single = _at_most_one(inner, value, (), subquery, binding)
        return InnerJoin((node, single), ())
    rows, meaning = dependent(inner, Domain.of(node, frozenset(taken), binding))
    single = _at_most_one(rows, value, tuple(meaning.values()), subquery, binding)
    same: list[exp.Expr] = [
        exp.NullSafeEQ(this=column(name), expression=column(here)) for name, here in meaning.items()
    ]
    return left_join(node, single, same, binding)
