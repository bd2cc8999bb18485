"""A plan as an indented tree, one operator per line, with the kind of each.

A part that is used more than once is written once and numbered; elsewhere its number stands for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import singledispatch

from sqlglot import exp

from streamtables.compiler.algebra import (
    OPERATORS,
    Aggregate,
    AggregateCall,
    Clock,
    Constant,
    Existence,
    Filter,
    Generate,
    InnerJoin,
    Keys,
    Node,
    Probe,
    Project,
    Repeat,
    Restrict,
    Scan,
    TopK,
    Touched,
    Weighed,
    Window,
    kind_of,
)
from streamtables.compiler.algebra.node import Kind
from streamtables.compiler.backend.aggregate_calls import call_sql
from streamtables.compiler.backend.windows import window_sql
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.rewrites.rebuild import in_order

_SHORT = 72
"""How long the text of an operator is inside a sentence."""


@dataclass(frozen=True)
class PlanLine:
    """One operator of a plan, at its depth; `kind` is None for what only delta rules make."""

    depth: int
    operator: str
    detail: str
    kind: Kind | None

    @property
    def text(self) -> str:
        """The line as people read it."""
        shown = f"{'  ' * self.depth}{self.operator} {self.detail}".rstrip()
        return f"{shown}  [{self.kind}]" if self.kind else shown


def plan_tree(root: Node) -> str:
    """Return a plan as text."""
    return "\n".join(line.text for line in plan_lines(root))


def plan_lines(root: Node) -> list[PlanLine]:
    """Return the operators of a plan from the top down."""
    uses: dict[int, int] = {}
    for node in in_order(root):
        for child in node.inputs:
            uses[id(child)] = uses.get(id(child), 0) + 1
    numbers: dict[int, int] = {}
    lines: list[PlanLine] = []

    def visit(node: Node, depth: int) -> None:
        if id(node) in numbers:
            lines.append(PlanLine(depth, f"#{numbers[id(node)]}", "", None))
            return
        detail = describe(node)
        if uses.get(id(node), 0) > 1 and not isinstance(node, Scan):
            numbers[id(node)] = len(numbers) + 1
            detail = f"{detail} (#{numbers[id(node)]})".strip()
        kind = kind_of(node) if isinstance(node, OPERATORS) else None
        lines.append(PlanLine(depth, type(node).__name__, detail, kind))
        for child in node.inputs:
            visit(child, depth + 1)

    visit(root, 0)
    return lines


def expression_text(expression: exp.Expr) -> str:
    """Return an expression without the quotes that plain names do not need."""
    text = expression.sql(dialect=VerbatimSpark, normalize_functions=False)
    return re.sub(r"`(\w+)`", r"\1", text)


def call_text(call: AggregateCall) -> str:
    """Return an aggregate call; how it adds floats in order is longer than all else of a plan."""
    text = expression_text(call_sql(replace(call, sorted_sum=False)))
    return f"{text} in order of size" if call.sorted_sum else text


def short(node: Node) -> str:
    """Return an operator in quotes, cut to what fits into a sentence."""
    text = f"{type(node).__name__} {describe(node)}".strip()
    return f'"{text}"' if len(text) <= _SHORT else f'"{text[: _SHORT - 1].rstrip()}…"'


@singledispatch
def describe(node: Node) -> str:
    """Return what an operator does beyond its name."""
    return ""


@describe.register
def _(node: Scan) -> str:
    table = node.table if node.version == "now" else f"{node.version}.{node.table}"
    fields = (f.name if f.name == f.source else f"{f.source} as {f.name}" for f in node.fields)
    return f"{table} ({', '.join(fields)})"


@describe.register
def _(node: Filter) -> str:
    return expression_text(node.condition)


@describe.register
def _(node: Project) -> str:
    shown = ((expression_text(item.expression), item.name) for item in node.projections)
    return ", ".join(text if text == name else f"{text} as {name}" for text, name in shown)


@describe.register
def _(node: InnerJoin) -> str:
    return " and ".join(expression_text(item) for item in node.conditions) or "every pair"


@describe.register
def _(node: Probe) -> str:
    conditions = " and ".join(expression_text(item) for item in node.conditions) or "any row"
    if isinstance(node, Existence):
        return f"{node.mode} {conditions}"
    return conditions


@describe.register
def _(node: Generate) -> str:
    outer = "outer " if node.outer else ""
    return f"{outer}{expression_text(node.call)} as {', '.join(item.name for item in node.made)}"


@describe.register
def _(node: Window) -> str:
    calls = (
        f"{expression_text(window_sql(call, node.partition))} as {call.name}" for call in node.calls
    )
    return ", ".join(calls)


@describe.register
def _(node: TopK) -> str:
    order = ", ".join(expression_text(item) for item in node.order)
    by = f"by {', '.join(node.partition)} " if node.partition else ""
    count = "all" if node.limit is None else str(node.limit)
    return f"{by}first {count} after {node.offset} in order {order}"


@describe.register
def _(node: Clock) -> str:
    return f"as {node.name}"


@describe.register
def _(node: Constant) -> str:
    return f"{len(node.rows)} row{'s' if len(node.rows) != 1 else ''}"


@describe.register
def _(node: Aggregate) -> str:
    calls = ", ".join(f"{call_text(call)} as {call.name}" for call in node.calls)
    groups = f"by {', '.join(node.group)}" if node.group else "of all rows"
    return f"{groups}: {calls}" if calls else groups


@describe.register
def _(node: Keys) -> str:
    return ", ".join(node.key_columns)


@describe.register
def _(node: Restrict) -> str:
    return " and ".join(f"{column} <=> key {key}" for column, key in node.on)


@describe.register
def _(node: Touched) -> str:
    sets = (" and ".join(f"{column} <=> key {key}" for column, key in on) for on in node.pairs)
    return " or ".join(sets)


@describe.register
def _(node: Weighed) -> str:
    return " and ".join(expression_text(item) for item in node.conditions)


@describe.register
def _(node: Repeat) -> str:
    return "weights are positive" if node.plain else ""
