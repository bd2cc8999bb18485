"""VALUES, and a SELECT without FROM: rows that stand in the query itself and never change."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra.node import (
    Column,
    Empty,
    Kind,
    Node,
    delta_rule,
    kind_of,
    may_change,
)


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """The rows of a list; one row without columns stands for a query without FROM."""

    fields: tuple[Column, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.fields

    @property
    def key(self) -> tuple[str, ...] | None:
        return () if len(self.rows) == 1 else None

    def with_inputs(self, *inputs: Node) -> Node:
        return self


@delta_rule.register
def delta_constant(node: Constant) -> Node:
    """Return no rows."""
    return Empty(node.columns, signed=True)


@may_change.register
def _(node: Constant) -> bool:
    return False


@kind_of.register
def _(node: Constant) -> Kind:
    return "linear"
