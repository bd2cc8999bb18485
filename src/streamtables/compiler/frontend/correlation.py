"""Columns of an enclosing query inside a subquery, and moving their conditions up to its top.

Names are unique in a plan, so a column that nothing inside a relation gives belongs to an enclosing
query: it is *free*.  Most subqueries read free columns in plain conditions only; those are pulled
up to become conditions of the join that the subquery turns into.  Where an operator in between
looks at groups of rows, an equality may still pass: the group then includes its column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    InnerJoin,
    Node,
    Probe,
    Project,
    Projection,
    TopK,
    Window,
)
from streamtables.compiler.algebra.expressions import (
    columns_in,
    columns_in_all,
    expressions_of,
    with_expressions,
)
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.expressions import all_of, conjuncts
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.rewrites.rebuild import in_order, rebuild


class CannotPullUpError(Exception):
    """A free column stands where its condition cannot move up."""


@dataclass(frozen=True)
class Pulled:
    """A relation without free columns, and the conditions on them that were inside."""

    node: Node
    conditions: tuple[exp.Expr, ...] = ()


def free_columns(root: Node) -> frozenset[str]:
    """Return the columns that a relation reads and nothing inside it gives."""
    nodes = in_order(root)
    given = {name for node in nodes for name in node.names}
    read = columns_in_all(item for node in nodes for item in expressions_of(node))
    return frozenset(read - given)


def with_free_columns(root: Node, meaning: dict[str, exp.Expr]) -> Node:
    """Return a relation with other expressions for its free columns."""

    def change(expression: exp.Expr) -> exp.Expr:
        return substituted(expression, meaning)

    return rebuild(root, lambda _, new: with_expressions(new, change))


def substituted(expression: exp.Expr, meaning: dict[str, exp.Expr]) -> exp.Expr:
    """Return an expression with other expressions for some of its columns."""
    if columns_in(expression).isdisjoint(meaning):
        return expression

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in meaning:
            value = meaning[node.name].copy()
            return value if isinstance(value, exp.Column) else exp.paren(value, copy=False)
        return node

    return expression.copy().transform(put)


def pull_up(root: Node, binding: Binding) -> Pulled:
    """Return a relation without free columns, and the conditions that held them.

    Raises:
        CannotPullUpError: a free column stands elsewhere, or under an operator that its condition
            cannot pass.
    """
    free = free_columns(root)
    return _Pull(free, binding).up(root) if free else Pulled(root)


def pulled_keys(root: Node, binding: Binding) -> tuple[Pulled, tuple[str, ...]]:
    """Pull conditions up, all of which must be equalities; return the columns they look up by."""
    pull = _Pull(free_columns(root), binding)
    return pull.keyed(pull.up(root), frozenset())


@dataclass(frozen=True)
class _Pull:
    free: frozenset[str]
    binding: Binding

    def up(self, node: Node) -> Pulled:
        """Pull conditions out of one operator and all below it."""
        if not free_columns(node) & self.free:
            return Pulled(node)
        return _pulled(node, self)

    def is_free(self, expression: exp.Expr) -> bool:
        return not columns_in(expression).isdisjoint(self.free)

    def keyed(self, below: Pulled, kept: frozenset[str]) -> tuple[Pulled, tuple[str, ...]]:
        """Return the input of an operator on groups, and the columns that its groups must include.

        A condition passes when it only reads columns in `kept`, by which the operator groups
        already, or when it is an equality with a column, which then becomes one of them.
        """
        node, conditions = below.node, []
        keys: dict[str, None] = {}
        for condition in below.conditions:
            if columns_in(condition) - self.free <= kept:
                conditions.append(condition)
                continue
            inner, outer = self.equality(condition)
            type_ = type_of(inner, self.binding.types_of(node))
            check_key_type(type_, inner, self.binding)
            if not isinstance(inner, exp.Column):
                name = self.binding.namer.fresh("join_key")
                node = with_column(node, Projection(name, inner, type_))
                inner = column(name)
            keys[inner.name] = None
            conditions.append(type(condition)(this=inner.copy(), expression=outer.copy()))
        return Pulled(node, tuple(conditions)), tuple(keys)

    def equality(self, condition: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        """Return the sides of `inner = outer`, or raise."""
        if isinstance(condition, exp.EQ | exp.NullSafeEQ):
            sides = (condition.this, condition.expression)
            for inner, outer in (sides, sides[::-1]):
                apart = columns_in(outer) <= self.free and not self.is_free(inner)
                if apart and columns_in(inner):
                    return inner, outer
        raise CannotPullUpError


@singledispatch
def _pulled(node: Node, pull: _Pull) -> Pulled:
    raise CannotPullUpError


@_pulled.register
def _(node: Filter, pull: _Pull) -> Pulled:
    below = pull.up(node.input)
    parts = conjuncts(node.condition)
    kept = [item for item in parts if not pull.is_free(item)]
    moved = tuple(item for item in parts if pull.is_free(item))
    inner = Filter(below.node, all_of(kept)) if kept else below.node
    return Pulled(inner, below.conditions + moved)


@_pulled.register
def _(node: Project, pull: _Pull) -> Pulled:
    if any(pull.is_free(item.expression) for item in node.projections):
        raise CannotPullUpError
    below = pull.up(node.input)
    read = columns_in_all(below.conditions) - pull.free - set(node.names)
    more = tuple(
        Projection(item.name, column(item.name), item.type)
        for item in below.node.columns
        if item.name in read
    )
    return Pulled(Project(below.node, node.projections + more), below.conditions)


@_pulled.register
def _(node: InnerJoin, pull: _Pull) -> Pulled:
    parts = [pull.up(part) for part in node.parts]
    kept = tuple(item for item in node.conditions if not pull.is_free(item))
    moved = tuple(item for item in node.conditions if pull.is_free(item))
    moved += tuple(item for part in parts for item in part.conditions)
    return Pulled(InnerJoin(tuple(part.node for part in parts), kept), moved)


@_pulled.register
def _(node: Generate, pull: _Pull) -> Pulled:
    if pull.is_free(node.call):
        raise CannotPullUpError
    below = pull.up(node.input)
    return Pulled(node.with_inputs(below.node), below.conditions)


@_pulled.register
def _(node: Probe, pull: _Pull) -> Pulled:
    if free_columns(node.right) & pull.free or any(pull.is_free(c) for c in node.conditions):
        raise CannotPullUpError
    below = pull.up(node.left)
    return Pulled(node.with_inputs(below.node, node.right), below.conditions)


@_pulled.register
def _(node: Aggregate, pull: _Pull) -> Pulled:
    if not node.group or any(pull.is_free(item) for item in expressions_of(node)):
        raise CannotPullUpError
    below, keys = pull.keyed(pull.up(node.input), frozenset(node.group))
    group = tuple(dict.fromkeys((*node.group, *keys)))
    return Pulled(replace(node, input=below.node, group=group), below.conditions)


@_pulled.register
def _(node: Distinct, pull: _Pull) -> Pulled:
    shown = frozenset(node.names)
    below, keys = pull.keyed(pull.up(node.input), shown)
    wanted = dict.fromkeys((*node.names, *keys))
    cut = tuple(Projection(name, column(name), below.node.type_of(name)) for name in wanted)
    return Pulled(Distinct(Project(below.node, cut)), below.conditions)


@_pulled.register
def _(node: Window, pull: _Pull) -> Pulled:
    return _partitioned(node, pull)


@_pulled.register
def _(node: TopK, pull: _Pull) -> Pulled:
    return _partitioned(node, pull)


def _partitioned(node: Window | TopK, pull: _Pull) -> Pulled:
    if any(pull.is_free(item) for item in expressions_of(node)):
        raise CannotPullUpError
    below, keys = pull.keyed(pull.up(node.input), frozenset(node.partition))
    partition = tuple(dict.fromkeys((*node.partition, *keys)))
    return Pulled(replace(node, input=below.node, partition=partition), below.conditions)
