"""What a changed single value does to rows that are only chosen by it.

    Σ w · [p(r, d)]   over the rows d of ΔD, for each row r of X

Where D has at most one row, as an aggregate of all rows and the clock have, ΔD has at most two: the
old one and the new one.  A row of X for which p answers the same of both has the weight 0 and is
left out at once.  As a join it would be two rows that cancel each other only when netted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra.node import Column, Node


@dataclass(frozen=True, eq=False)
class Weighed(Node):
    """The rows of `input`, each with what the changes of a single row add to its weight."""

    input: Node
    single: Node
    """The netted changes of a relation of at most one row."""
    conditions: tuple[exp.Expr, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, self.single)

    @property
    def signed(self) -> bool:
        return True

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key

    def with_inputs(self, *inputs: Node) -> Node:
        first, single = inputs
        return replace(self, input=first, single=single)
