"""Operators that ask, for each row of the left input by itself, what the right one holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from sqlglot import exp

from streamtables.compiler.algebra.node import Node
from streamtables.compiler.algebra.restriction import On
from streamtables.compiler.types import UNKNOWN


@dataclass(frozen=True, eq=False)
class Probe(Node):
    """Each row of `left`, with what follows from the rows of `right` for which all conditions hold.

    Weights come from the left input alone; the right one is a plain relation.
    """

    whole_because: ClassVar[str] = (
        "without an equality of a left and a right column, nothing tells which left rows a changed "
        "right row concerns"
    )

    left: Node
    right: Node
    conditions: tuple[exp.Expr, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    @property
    def signed(self) -> bool:
        return self.left.signed

    @property
    def compares_rows(self) -> bool:
        return True

    def with_inputs(self, *inputs: Node) -> Node:
        left, right = inputs
        return replace(self, left=left, right=right)

    @cached_property
    def equalities(self) -> On:
        """Pairs of a left and a right column of one type that the conditions make equal."""
        pairs: dict[str, str] = {}
        for condition in self.conditions:
            if isinstance(condition, exp.EQ | exp.NullSafeEQ):
                self._add_pair(condition.this, condition.expression, pairs)
                self._add_pair(condition.expression, condition.this, pairs)
        return tuple((left, right) for right, left in pairs.items())

    def _add_pair(self, left: exp.Expr, right: exp.Expr, pairs: dict[str, str]) -> None:
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return
        if left.name not in self.left.names or right.name not in self.right.names:
            return
        type_ = self.left.type_of(left.name)
        if type_ != UNKNOWN and type_ == self.right.type_of(right.name):
            pairs.setdefault(right.name, left.name)

    @property
    def minds_nulls(self) -> bool:
        """Whether a NULL may equal a NULL in one of the conditions."""
        return any(isinstance(item, exp.NullSafeEQ) for item in self.conditions)

    @property
    def matches_once(self) -> bool:
        """Whether a row of the left input can match at most one row of the right one."""
        key = self.right.key
        return key is not None and set(key) <= {right for _, right in self.equalities}
