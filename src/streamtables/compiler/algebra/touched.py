"""The rows that any of several key sets names: what a change elsewhere may concern.

A join looks at it from its widest input: one pass finds all of that input's rows that take part in
a changed combination, whichever of the other inputs changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamtables.compiler.algebra.node import Column, Node
from streamtables.compiler.algebra.restriction import On


@dataclass(frozen=True, eq=False)
class Touched(Node):
    """The rows of `input` whose key occurs in one of the key sets, null-safe."""

    input: Node
    key_sets: tuple[Node, ...]
    pairs: tuple[On, ...]
    """For each key set the pairs of a column of the input and one of the keys."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, *self.key_sets)

    @property
    def signed(self) -> bool:
        return self.input.signed

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key

    def with_inputs(self, *inputs: Node) -> Node:
        first, *others = inputs
        return replace(self, input=first, key_sets=tuple(others))
