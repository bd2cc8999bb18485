"""The same delta in other orders: a sum has no first term, and a join no first input.

Σ terms                 in any order
Δ(R¹ ⋈ … ⋈ Rⁿ)          telescoped from any end: before to the left, after to the right
from the widest input   or one term for each changed input
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from streamtables.compiler.algebra import InnerJoin, Net, Node, Project, Projection, Sum
from streamtables.compiler.algebra.inner_join import JoinTree
from streamtables.compiler.algebra.node import changes_of
from streamtables.compiler.backend.statement import statement, to_sql
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.plan import Plan
from streamtables.compiler.rewrites.rebuild import rebuild


def reordered_deltas(plan: Plan, seed: int) -> dict[str, str]:
    """Return statements for DuckDB, by what they do otherwise; each must give the plan's delta."""
    order = random.Random(seed)
    other_ends = _shuffled_joins(_anew(plan.visible), order)
    with _one_term_for_each_input():
        term_by_term = changes_of(_anew(plan.visible))
    deltas = {
        "its terms in another order": _shuffled_terms(plan.delta, order),
        "its joins from another end": _shuffled_terms(Net(changes_of(other_ends)), order),
        "one term for each changed input": Net(term_by_term),
    }
    return {how: to_sql(statement(delta), "duckdb") for how, delta in deltas.items()}


def _shuffled_terms(root: Node, order: random.Random) -> Node:
    def shuffle(_: Node, new: Node) -> Node:
        return replace(new, terms=_shuffled(new.terms, order)) if isinstance(new, Sum) else new

    return rebuild(root, shuffle)


def _shuffled_joins(root: Node, order: random.Random) -> Node:
    """Give the inputs of every join another order, and its columns the one they had."""

    def shuffle(_: Node, new: Node) -> Node:
        if not isinstance(new, InnerJoin):
            return new
        shown = tuple(Projection(c.name, column(c.name), c.type) for c in new.columns)
        return Project(replace(new, parts=_shuffled(new.parts, order)), shown)

    return rebuild(root, shuffle)


def _shuffled(items: tuple[Node, ...], order: random.Random) -> tuple[Node, ...]:
    """Return the items in an order that is not the one they have."""
    found = order.sample(items, len(items))
    unmoved = all(new is old for new, old in zip(found, items, strict=True))
    return items[::-1] if unmoved else tuple(found)


def _anew(root: Node) -> Node:
    """Return a copy that remembers none of the forms that rules have made of it."""
    return rebuild(root, lambda _, new: replace(new))


@contextmanager
def _one_term_for_each_input() -> Iterator[None]:
    with mock.patch.object(JoinTree, "of", return_value=None):
        yield
