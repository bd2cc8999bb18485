"""The operators that only signed relations need: sum, negation, netting, repetition.

    sum(A, B)      weights of equal rows add up (as a bag of weighted rows: UNION ALL)
    −A             every weight changes its sign
    net(A)         one row per distinct row, weights summed, zeros dropped
    repeat(A)      w rows of weight 1 for a row of weight w > 0, and −1 for w < 0

Netting groups by the *binary image* of a row (compiler/binary_image.py), never by SQL equality,
which would cancel 0.0 against −0.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamtables.compiler.algebra.node import WEIGHT, Column, Node, Unary, at, whole_changes
from streamtables.compiler.types import BIGINT


@dataclass(frozen=True, eq=False)
class Sum(Node):
    """The rows of all terms together; a plain term counts with weight 1."""

    terms: tuple[Node, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.terms[0].columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.terms

    @property
    def signed(self) -> bool:
        return True

    def with_inputs(self, *inputs: Node) -> Node:
        return replace(self, terms=inputs)


@dataclass(frozen=True, eq=False)
class Negate(Unary):
    """The same rows with the opposite weights."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def signed(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Net(Unary):
    """One row for each distinct row, with the sum of its weights, where that is not zero."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def signed(self) -> bool:
        return True


@whole_changes.register
def _(node: Node) -> Node:
    return Sum((at("after", node), Negate(at("before", node))))


@dataclass(frozen=True, eq=False)
class Repeat(Unary):
    """Each row as often as its weight says; `plain` demands that no weight is negative."""

    plain: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def signed(self) -> bool:
        return not self.plain


@dataclass(frozen=True, eq=False)
class Unfold(Unary):
    """The same rows with the weight as a column like any other, for an aggregate to read."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.input.columns, Column(WEIGHT, BIGINT))

    @property
    def signed(self) -> bool:
        return False
