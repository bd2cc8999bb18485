"""Have each row weighed once where a single value that changed only chooses among rows.

    π σ(ΔX × D′ + X × ΔD)   =   π σ(ΔX × D′) + π weighed(X, ΔD, σ)        D has at most one row

and π shows nothing of D.  `WHERE price > (SELECT avg(price) …)` is so, NOT IN, which asks whether
there is a NULL anywhere, and a condition on the current time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Filter,
    InnerJoin,
    Net,
    Node,
    Project,
    Projection,
    Sum,
    Weighed,
)
from streamtables.compiler.algebra.expressions import columns_in, columns_in_all
from streamtables.compiler.algebra.single import is_change_of_one_row
from streamtables.compiler.rewrites.rebuild import in_order, rebuild


def weigh_single_rows(root: Node) -> Node:
    """Return the same relation without joins of whole tables with both values of a single row."""
    uses = Counter(id(child) for node in in_order(root) for child in node.inputs)
    found = {id(node) for node in in_order(root) if _is_found(node, uses)}
    if not found:
        return root

    def weigh(old: Node, new: Node) -> Node:
        chain = _Chain.below(new) if id(old) in found and isinstance(new, Project) else None
        return new if chain is None else chain.weighed()

    return rebuild(root, weigh)


def _is_found(node: Node, uses: Mapping[int, int]) -> bool:
    if not isinstance(node, Project):
        return False
    below: Node = node.input
    while isinstance(below, Filter | Project):
        if uses[id(below)] > 1:
            return False
        below = below.input
    chain = _Chain.below(node)
    return uses[id(below)] == 1 and chain is not None and chain.has_single


@dataclass(frozen=True)
class _Chain:
    """Projections and filters over a sum of terms, as one projection and some conditions."""

    terms: tuple[Node, ...]
    projections: tuple[Projection, ...]
    conditions: tuple[exp.Expr, ...]

    @classmethod
    def below(cls, top: Project) -> _Chain | None:
        """Return the chain below a projection; None where it cannot be written as one."""
        shown = {item.name: item.expression for item in top.projections}
        conditions: list[exp.Expr] = []
        node: Node = top.input
        while isinstance(node, Filter | Project):
            if isinstance(node, Filter):
                conditions.append(node.condition)
            else:
                made = {item.name: item.expression for item in node.projections}
                shown = {name: _put(value, made) for name, value in shown.items()}
                conditions = [_put(item, made) for item in conditions]
            node = node.input
        # The variable of a lambda looks like a column, and must not be taken for one.
        if any(item.find(exp.Lambda) for item in (*shown.values(), *conditions)):
            return None
        terms = node.terms if isinstance(node, Sum) else (node,)
        projections = tuple(replace(p, expression=shown[p.name]) for p in top.projections)
        return cls(terms, projections, tuple(conditions))

    @property
    def has_single(self) -> bool:
        """Whether a term joins the changes of a single row that is not shown."""
        return any(self._single(term) is not None for term in self.terms)

    def weighed(self) -> Node:
        """Return the same rows, every term by itself."""
        terms = tuple(self._term(term) for term in self.terms)
        return terms[0] if len(terms) == 1 else Sum(terms)

    def _term(self, term: Node) -> Node:
        place = self._single(term)
        if place is None:
            kept = Filter(term, exp.and_(*self.conditions)) if self.conditions else term
            return Project(kept, self.projections)
        assert isinstance(term, InnerJoin)
        single = term.parts[place]
        rest = [part for index, part in enumerate(term.parts) if index != place]
        conditions = (*self.conditions, *term.conditions)
        on_single = [item for item in conditions if not columns_in(item).isdisjoint(single.names)]
        others = tuple(item for item in conditions if item not in on_single)
        rows = rest[0] if len(rest) == 1 else InnerJoin(tuple(rest), others)
        if len(rest) == 1 and others:
            rows = Filter(rows, exp.and_(*others))
        netted = single if _is_netted(single) else Net(single)
        return Project(Weighed(rows, netted, tuple(on_single)), self.projections)

    def _single(self, term: Node) -> int | None:
        """Return which part of a join is the change of a single row that only conditions read."""
        if not isinstance(term, InnerJoin) or len(term.parts) < 2:
            return None
        shown = columns_in_all(item.expression for item in self.projections)
        for index, part in enumerate(term.parts):
            others = (other for place, other in enumerate(term.parts) if place != index)
            hidden = shown.isdisjoint(part.names)
            if hidden and is_change_of_one_row(part) and not any(o.signed for o in others):
                return index
        return None


def _is_netted(node: Node) -> bool:
    """Whether no two rows can cancel: nothing was left out of netted rows, or made equal."""
    while isinstance(node, Project) and set(node.passed) >= set(node.input.names):
        node = node.input
    return isinstance(node, Net)


def _put(expression: exp.Expr, made: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return an expression with what columns are made of in their places."""

    def put(item: exp.Expr) -> exp.Expr:
        if not isinstance(item, exp.Column) or item.name not in made:
            return item
        value = made[item.name].copy()
        return value if isinstance(value, exp.Column) else exp.Paren(this=value)

    return expression.copy().transform(put)
