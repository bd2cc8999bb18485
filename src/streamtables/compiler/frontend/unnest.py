"""A subquery for every value of the columns it takes from outside, all at once.

The *domain* is the set of distinct values of those columns.  `dependent` gives a relation that
holds, for each of them, the rows that the subquery has for it, beside the values.  It pushes the
domain down through every operator until nothing below reads a column from outside, so it works for
any subquery; conditions that can simply be pulled up (correlation.py) are the cheaper way.
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
    LeftJoin,
    Node,
    Probe,
    Project,
    Projection,
    TopK,
    UnionAll,
    Window,
)
from streamtables.compiler.algebra.expressions import with_expressions
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.correlation import free_columns, substituted
from streamtables.compiler.frontend.empty_groups import over_nothing

Meaning = dict[str, str]
"""For each column from outside, the column that holds its value here."""


@dataclass(frozen=True)
class Domain:
    """The distinct values of the columns that a subquery takes from outside."""

    node: Node
    meaning: Meaning
    binding: Binding

    @classmethod
    def of(cls, left: Node, names: frozenset[str], binding: Binding) -> Domain:
        """Return the values that the columns have in a relation."""
        meaning = {name: binding.namer.fresh(name) for name in sorted(names)}
        shown = tuple(
            Projection(here, column(name), left.type_of(name)) for name, here in meaning.items()
        )
        return cls(Distinct(Project(left, shown)), meaning, binding)

    def copy(self) -> tuple[Node, Meaning]:
        """Return the domain under names of its own, for one more use."""
        meaning = {name: self.binding.namer.fresh(name) for name in self.meaning}
        shown = tuple(
            Projection(meaning[name], column(here), self.node.type_of(here))
            for name, here in self.meaning.items()
        )
        return Project(self.node, shown), meaning


def dependent(node: Node, domain: Domain) -> tuple[Node, Meaning]:
    """Return the rows of a relation for each value of the domain, beside that value."""
    if free_columns(node).isdisjoint(domain.meaning):
        values, meaning = domain.copy()
        return InnerJoin((values, node), ()), meaning
    return _dependent(node, domain)


def _put(node: Node, meaning: Meaning) -> Node:
    columns: dict[str, exp.Expr] = {name: column(here) for name, here in meaning.items()}
    return with_expressions(node, lambda item: substituted(item, columns))


def _pass(meaning: Meaning, node: Node) -> tuple[Projection, ...]:
    return tuple(Projection(here, column(here), node.type_of(here)) for here in meaning.values())


def _same(left: Meaning, right: Meaning) -> tuple[exp.Expr, ...]:
    return tuple(
        exp.NullSafeEQ(this=column(left[name]), expression=column(right[name])) for name in left
    )


@singledispatch
def _dependent(node: Node, domain: Domain) -> tuple[Node, Meaning]:
    raise domain.binding.unimplemented(
        f"a column of an enclosing query inside {type(node).__name__}",
        None,
        word=type(node).__name__,
    )


@_dependent.register(Filter)
@_dependent.register(Generate)
def _(node: Filter | Generate, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    return _put(node.with_inputs(below), meaning), meaning


@_dependent.register
def _(node: Project, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    put = _put(node.with_inputs(below), meaning)
    assert isinstance(put, Project)
    return replace(put, projections=put.projections + _pass(meaning, below)), meaning


@_dependent.register
def _(node: InnerJoin, domain: Domain) -> tuple[Node, Meaning]:
    parts: list[Node] = []
    meanings: list[Meaning] = []
    for part in node.parts:
        if free_columns(part).isdisjoint(domain.meaning):
            parts.append(part)
        else:
            below, meaning = dependent(part, domain)
            parts.append(below)
            meanings.append(meaning)
    if not meanings:
        values, meaning = domain.copy()
        parts.insert(0, values)
        meanings.append(meaning)
    first, *others = meanings
    equal = tuple(condition for other in others for condition in _same(first, other))
    joined = InnerJoin(tuple(parts), node.conditions + equal)
    return _put(joined, first), first


@_dependent.register
def _(node: UnionAll, domain: Domain) -> tuple[Node, Meaning]:
    names = {name: domain.binding.namer.fresh(name) for name in domain.meaning}
    branches = []
    for branch in node.branches:
        below, meaning = dependent(branch, domain)
        shown = tuple(Projection(c.name, column(c.name), c.type) for c in branch.columns)
        values = tuple(
            Projection(names[name], column(here), below.type_of(here))
            for name, here in meaning.items()
        )
        branches.append(Project(below, shown + values))
    return UnionAll(tuple(branches)), names


@_dependent.register
def _(node: Distinct, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    shown = tuple(Projection(c.name, column(c.name), c.type) for c in node.columns)
    return Distinct(Project(below, shown + _pass(meaning, below))), meaning


@_dependent.register
def _(node: Aggregate, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    put = _put(node.with_inputs(below), meaning)
    assert isinstance(put, Aggregate)
    grouped = replace(put, group=put.group + tuple(meaning.values()))
    if node.group:
        return grouped, meaning
    # A global aggregate has a row for a value without any rows too.
    values, outside = domain.copy()
    joined = LeftJoin(values, grouped, _same(outside, meaning))
    shown = tuple(
        Projection(call.name, over_nothing(call, column(call.name)), call.type)
        for call in node.calls
    )
    return Project(joined, shown + _pass(outside, joined)), outside


@_dependent.register
def _(node: Window, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    put = _put(node.with_inputs(below), meaning)
    assert isinstance(put, Window)
    return replace(put, partition=put.partition + tuple(meaning.values())), meaning


@_dependent.register
def _(node: TopK, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = dependent(node.input, domain)
    put = _put(node.with_inputs(below), meaning)
    assert isinstance(put, TopK)
    return replace(put, partition=put.partition + tuple(meaning.values())), meaning


@_dependent.register
def _(node: Probe, domain: Domain) -> tuple[Node, Meaning]:
    left, meaning = dependent(node.left, domain)
    right = node.right
    equal: tuple[exp.Expr, ...] = ()
    if not free_columns(right).isdisjoint(domain.meaning):
        right, inside = dependent(right, domain)
        equal = _same(meaning, inside)
    joined = replace(node, left=left, right=right, conditions=node.conditions + equal)
    return _put(joined, meaning), meaning
