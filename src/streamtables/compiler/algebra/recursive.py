"""WITH RECURSIVE: the rows of a base, and what a step makes of them again and again.

    T = base ⊎ step(base) ⊎ step(step(base)) ⊎ …

As bags: a row that is found in two ways is there twice.  The trap: the step reads its own result,
which is no table and has no changes.  recursive_delta.py has the rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    kept,
    kind_of,
)


@dataclass(frozen=True, eq=False)
class Itself(Node):
    """The rows of a recursive relation that the last step made, as its step reads them."""

    name: str
    fields: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.fields

    def with_inputs(self, *inputs: Node) -> Node:
        return self


@dataclass(frozen=True, eq=False)
class Recursive(Node):
    """The rows of `base`, and those of `step` over the rows found last, until there are none."""

    whole_because: ClassVar[str] = (
        "where a table changes that the step reads: what was found is not stored step by step, so "
        "both versions are walked from the base"
    )

    name: str
    base: Node
    step: Node

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.base.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.base, self.step)

    @property
    def signed(self) -> bool:
        return False

    @property
    def compares_rows(self) -> bool:
        return True

    def with_inputs(self, *inputs: Node) -> Node:
        base, step = inputs
        return replace(self, base=base, step=step)


def reads_itself(node: Node) -> bool:
    """Whether a relation stands inside the step of a recursion, and reads what that found."""
    return bool(_recursions_read(node))


@kept
def _recursions_read(node: Node) -> frozenset[str]:
    """Return the recursions that a relation reads the rows of, but is not the whole of."""
    if isinstance(node, Itself):
        return frozenset({node.name})
    read = frozenset[str]().union(*(_recursions_read(item) for item in node.inputs))
    return read - {node.name} if isinstance(node, Recursive) else read


@kind_of.register
def _(node: Itself) -> Kind:
    return "linear"
