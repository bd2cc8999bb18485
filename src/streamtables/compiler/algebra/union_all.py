"""UNION ALL puts bags together.

    Δ(A ⊎ B) = ΔA ⊎ ΔB

The trap: a branch that cannot change is left out of the delta, so each branch must have the common
type by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.node import (
    Column,
    Linear,
    Node,
    at,
    delta_rule,
    differentiate,
    may_change,
)
from streamtables.compiler.algebra.restriction import (
    On,
    Restrict,
    push_restriction,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.types import UNKNOWN
from streamtables.errors import InternalError


@dataclass(frozen=True, eq=False)
class UnionAll(Linear):
    """The rows of all branches; the branches have the same column names."""

    branches: tuple[Node, ...]

    def __post_init__(self) -> None:
        if len({branch.names for branch in self.branches}) != 1:
            raise InternalError("the branches of a union have different columns")

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.branches[0].columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, *inputs: Node) -> Node:
        return replace(self, branches=inputs)


@delta_rule.register
def delta_union_all(node: UnionAll) -> Node:
    """Return the changes of all branches that may change.

    Where the common type of a column is for the engine to find, the other branches stay, without
    rows: their types take part in the answer.
    """
    open_types = any(column.type == UNKNOWN for column in node.columns)
    branches: list[Node] = []
    for branch in node.branches:
        if may_change(branch):
            branches.append(differentiate(branch))
        elif open_types:
            branches.append(Filter(at("after", branch), exp.false()))
    return node.with_inputs(*branches)


@push_restriction.register
def restrict_union_all(node: UnionAll, keys: Node, on: On) -> Node:
    """Restrict every branch, by the columns that have the same type in all of them."""
    traced = tuple(pair for pair in on if node.type_of(pair[0]) != UNKNOWN)
    below = node.with_inputs(
        *(restrict_partly(branch, keys, on, traced) for branch in node.branches)
    )
    return Restrict(below, keys, on) if stays_above(on, traced) else below
