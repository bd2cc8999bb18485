"""WITH RECURSIVE: the rows of a base, and what a step makes of them again and again.

    ΔX = X′ − X            the whole relation, computed before and after

A deleted edge may take away rows at any distance, so nothing short of following all of them is
always right.  The trap: the step reads its own result, which is no table and has no changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    at,
    delta_rule,
    kept,
    kind_of,
)
from streamtables.compiler.algebra.signed import Negate, Net, Sum


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


@kept
def reads_itself(node: Node) -> bool:
    """Whether a relation stands inside the step of a recursion."""
    inner = () if isinstance(node, Recursive) else node.inputs
    return isinstance(node, Itself) or any(reads_itself(item) for item in inner)


@delta_rule.register
def delta_recursive(node: Recursive) -> Node:
    """Return the whole relation after the refresh minus the one before it."""
    return Net(Sum((at("after", node), Negate(at("before", node)))))


@kind_of.register
def _(node: Recursive) -> Kind:
    return "whole"


@kind_of.register
def _(node: Itself) -> Kind:
    return "linear"
