"""A projection computes each output column from one row of the input.

    Δπ(X) = π(ΔX)

Two rows that differ may become equal; their weights then add up when somebody nets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from streamtables.compiler.algebra.candidates import Names, candidates_below
from streamtables.compiler.algebra.node import Column, Linear, Node, Unary
from streamtables.compiler.algebra.restriction import (
    On,
    Restrict,
    push_restriction,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.types import SqlType


@dataclass(frozen=True)
class Projection:
    """One output column and the expression that makes it."""

    name: str
    expression: exp.Expr
    type: SqlType

    @property
    def passes(self) -> str | None:
        """The input column that goes through unchanged, when it is one."""
        return self.expression.name if isinstance(self.expression, exp.Column) else None


@dataclass(frozen=True, eq=False)
class Project(Unary, Linear):
    """The rows of the input, each turned into the values of the projections."""

    projections: tuple[Projection, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(item.name, item.type) for item in self.projections)

    @cached_property
    def passed(self) -> dict[str, str]:
        """Input column → the first output column that shows it unchanged."""
        shown: dict[str, str] = {}
        for item in self.projections:
            if item.passes is not None:
                shown.setdefault(item.passes, item.name)
        return shown

    @property
    def key(self) -> tuple[str, ...] | None:
        below = self.input.key
        if below is None or any(name not in self.passed for name in below):
            return None
        return tuple(self.passed[name] for name in below)


@candidates_below.register
def _(node: Project, names: Names) -> Node | None:
    wanted = tuple(item for item in node.projections if item.name in names)
    sources = tuple(dict.fromkeys(item.passes for item in wanted if item.passes is not None))
    if any(item.passes is None for item in wanted):
        return None
    rows = candidates_below(node.input, sources)
    return None if rows is None else Project(rows, wanted)


@push_restriction.register
def restrict_project(node: Project, keys: Node, on: On) -> Node:
    """Restrict the input by the columns that pass through unchanged."""
    origin = {item.name: item.passes for item in node.projections}
    traced = tuple((name, key) for column, key in on if (name := origin[column]) is not None)
    below = node.with_inputs(restrict_partly(node.input, keys, on, traced))
    return Restrict(below, keys, on) if stays_above(on, traced) else below
