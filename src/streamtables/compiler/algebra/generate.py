"""explode, posexplode, inline, stack: one row becomes as many as a generator makes of it.

    Δg(X) = g(ΔX)

The generator looks at one row at a time, so every row that it makes has the weight of its origin.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra.node import Column, Linear, Node, Unary
from streamtables.compiler.algebra.restriction import (
    On,
    Restrict,
    push_restriction,
    restrict_partly,
    stays_above,
)


@dataclass(frozen=True, eq=False)
class Generate(Unary, Linear):
    """Each row beside every row that the generator makes of it; `outer` keeps those without any."""

    call: exp.Expr
    made: tuple[Column, ...]
    outer: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + self.made


@push_restriction.register
def restrict_generate(node: Generate, keys: Node, on: On) -> Node:
    """Restrict the input by its own columns."""
    traced = tuple(pair for pair in on if pair[0] in node.input.names)
    below = node.with_inputs(restrict_partly(node.input, keys, on, traced))
    return Restrict(below, keys, on) if stays_above(on, traced) else below
