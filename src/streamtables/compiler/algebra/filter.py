"""A filter keeps the rows for which a condition is true.

    Δσ(X) = σ(ΔX)

The condition looks at one row, so each half of an update is judged on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra.candidates import Names, candidates_below
from streamtables.compiler.algebra.node import Column, Linear, Node, Unary
from streamtables.compiler.algebra.restriction import On, push_restriction, restrict


@dataclass(frozen=True, eq=False)
class Filter(Unary, Linear):
    """The rows of the input for which `condition` is true."""

    condition: exp.Expr

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key


@candidates_below.register
def _(node: Filter, names: Names) -> Node | None:
    # The condition may ask for what only an operator below gives; without it there are more.
    return candidates_below(node.input, names)


@push_restriction.register
def restrict_filter(node: Filter, keys: Node, on: On) -> Node:
    """Restrict the input: a filter shows all of its columns."""
    return node.with_inputs(restrict(node.input, keys, on))
