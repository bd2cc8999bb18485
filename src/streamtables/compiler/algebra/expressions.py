"""The scalar expressions inside an operator: reading them, and putting others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import singledispatch

from sqlglot import exp

from streamtables.compiler.algebra.aggregate import Aggregate, AggregateCall
from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.generate import Generate
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.node import Node
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.project import Project
from streamtables.compiler.algebra.top_k import TopK
from streamtables.compiler.algebra.weighed import Weighed
from streamtables.compiler.algebra.window import Window, WindowCall
from streamtables.compiler.types import NULL, UNKNOWN, SqlType, is_collated

Change = Callable[[exp.Expr], exp.Expr]


def columns_in(expression: exp.Expr) -> set[str]:
    """Return the columns that an expression reads."""
    return {item.name for item in expression.find_all(exp.Column)}


def columns_read(expression: exp.Expr) -> list[str]:
    """Return the columns that an expression reads, as often and in the order as it does."""
    return [item.name for item in expression.find_all(exp.Column)]


def columns_in_all(expressions: Iterable[exp.Expr]) -> set[str]:
    """Return the columns that any of the expressions reads."""
    return set().union(*(columns_in(item) for item in expressions))


def expressions_of(node: Node) -> list[exp.Expr]:
    """Return every expression of one operator."""
    found: list[exp.Expr] = []

    def keep(expression: exp.Expr) -> exp.Expr:
        found.append(expression)
        return expression

    with_expressions(node, keep)
    return found


@singledispatch
def with_expressions(node: Node, change: Change) -> Node:
    """Return the operator with each of its expressions changed; most operators have none."""
    return node


@with_expressions.register
def _(node: Filter, change: Change) -> Node:
    return replace(node, condition=change(node.condition))


@with_expressions.register
def _(node: Project, change: Change) -> Node:
    changed = tuple(replace(p, expression=change(p.expression)) for p in node.projections)
    return replace(node, projections=changed)


@with_expressions.register
def _(node: InnerJoin, change: Change) -> Node:
    return replace(node, conditions=tuple(change(item) for item in node.conditions))


@with_expressions.register
def _(node: Weighed, change: Change) -> Node:
    return replace(node, conditions=tuple(change(item) for item in node.conditions))


@with_expressions.register
def _(node: Probe, change: Change) -> Node:
    return replace(node, conditions=tuple(change(item) for item in node.conditions))


@with_expressions.register
def _(node: Generate, change: Change) -> Node:
    return replace(node, call=change(node.call))


@with_expressions.register
def _(node: Aggregate, change: Change) -> Node:
    return replace(node, calls=tuple(_changed_call(call, change) for call in node.calls))


def _changed_call(call: AggregateCall, change: Change) -> AggregateCall:
    condition = None if call.condition is None else change(call.condition)
    arguments = tuple(change(item) for item in call.arguments)
    order = tuple(change(item) for item in call.order)
    return replace(call, arguments=arguments, condition=condition, order=order)


@with_expressions.register
def _(node: Window, change: Change) -> Node:
    return replace(node, calls=tuple(_changed_window(call, change) for call in node.calls))


def _changed_window(call: WindowCall, change: Change) -> WindowCall:
    order = tuple(change(item) for item in call.order)
    return replace(call, function=change(call.function), order=order)


@with_expressions.register
def _(node: TopK, change: Change) -> Node:
    return replace(node, order=tuple(change(item) for item in node.order))


def null_of(type_: SqlType) -> exp.Expr:
    """Return NULL with a type, where it is known and can be written."""
    unwritten = type_ in (UNKNOWN, NULL) or is_collated(type_) or "interval" in type_
    return exp.null() if unwritten else exp.cast(exp.null(), type_, dialect="spark")
