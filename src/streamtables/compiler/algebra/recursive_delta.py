"""How changes reach a recursion whose step takes each row of it by itself.

Such a step is linear in the recursion's own rows and multilinear with what it joins them to, so
each row of T follows from one row of the base and one row of each joined relation per level.  One
walk over both versions of all of them, side by side (recursive_sides.py), finds every row of T
and of T′ once:

    side of a row      0 when all that it follows from is, else the side of that which is not
    never together     sides −1 and 1: what follows from both is in neither version
    ΔT                 the rows on side 1, and those on side −1 negated

Where nothing but the base changed, rows on side 0 stay there: the walk starts from Δbase alone.
The trap: walking ΔT through the new step, which the same algebra allows, may follow rows that went
round a cycle for ever, though neither version has one in reach.  docs/theory.md has the proof.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.generate import Generate
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    at,
    delta_rule,
    kind_of,
    may_change,
    whole_changes,
)
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.project import Project, Projection
from streamtables.compiler.algebra.recursive import Itself, Recursive, reads_itself
from streamtables.compiler.algebra.recursive_sides import (
    SIDE,
    OneSided,
    both_versions,
    can_be_sided,
    column,
    moved_rows,
    number,
    on_side,
    with_columns,
)
from streamtables.compiler.algebra.signed import Net
from streamtables.compiler.algebra.union_all import UnionAll
from streamtables.compiler.types import BIGINT
from streamtables.errors import InternalError


@delta_rule.register
def delta_recursive(node: Recursive) -> Node:
    """Return the rows that one walk finds on one side only; after minus before for other steps."""
    return Net(OneSided(_walk(node)) if _takes_sides(node) else whole_changes(node))


def _walk(node: Recursive) -> Node:
    return replace(node, base=_start(node), step=_sided(node.step))


def _start(node: Recursive) -> Node:
    if not may_change(node.step):
        return moved_rows(node.base)
    return both_versions(node.base) if may_change(node.base) else on_side(0, at("after", node.base))


def _takes_sides(node: Recursive) -> bool:
    both_change = may_change(node.base) and may_change(node.step)
    return _is_linear(node.step) and (can_be_sided(node.base) or not both_change)


def _is_linear(step: Node) -> bool:
    """Whether a part of a step makes its rows from one row of the recursion each."""
    match step:
        case Itself():
            return True
        case Filter() | Project() | Generate() | UnionAll():
            return all(_is_linear(item) for item in step.inputs)
        case InnerJoin():
            own = [part for part in step.parts if reads_itself(part)]
            changing = [part for part in step.parts if may_change(part) and part not in own]
            return [_is_linear(part) for part in own] == [True] and all(map(can_be_sided, changing))
        case Probe():
            # The right side is looked at as a whole, so it has to be the same in both versions.
            closed = not reads_itself(step.right) and not may_change(step.right)
            return closed and _is_linear(step.left)
        case _:
            return False


def _sided(step: Node) -> Node:
    """Return a part of a step over sided rows, the side of each new row as its last column."""
    match step:
        case Itself():
            return replace(step, fields=(*step.fields, Column(SIDE, BIGINT)))
        case Project():
            shown = (*step.projections, Projection(SIDE, column(SIDE), BIGINT))
            return Project(_sided(step.input), shown)
        case Filter() | UnionAll():
            return step.with_inputs(*(_sided(item) for item in step.inputs))
        case Generate():
            return _side_last(step.with_inputs(_sided(step.input)), step)
        case Probe():
            return _side_last(step.with_inputs(_sided(step.left), at("after", step.right)), step)
        case InnerJoin():
            return _sided_join(step)
        case _:
            raise InternalError(f"no sides for {type(step).__name__}")


def _side_last(sided: Node, like: Node) -> Node:
    return with_columns(sided, like, Projection(SIDE, column(SIDE), BIGINT))


def _sided_join(join: InnerJoin) -> Node:
    """Join both versions of what changed; rows of opposite sides never meet."""
    parts: list[Node] = []
    sides = [SIDE]
    for index, part in enumerate(join.parts):
        if reads_itself(part):
            parts.append(_sided(part))
        elif may_change(part):
            name = f"{SIDE}_{index}"
            parts.append(both_versions(part, name))
            sides.append(name)
        else:
            parts.append(at("after", part))
    if len(sides) == 1:
        return _side_last(join.with_inputs(*parts), join)
    joined = InnerJoin(tuple(parts), (*join.conditions, _agree(sides)))
    return with_columns(joined, join, Projection(SIDE, _common(sides), BIGINT))


def _agree(sides: list[str]) -> exp.Expr:
    spread = exp.Mul(this=_call("least", sides), expression=_call("greatest", sides))
    return exp.GTE(this=spread, expression=number(0))


def _common(sides: list[str]) -> exp.Expr:
    appeared = exp.GT(this=_call("greatest", sides), expression=number(0))
    return exp.If(this=appeared, true=number(1), false=_call("least", sides))


def _call(function: str, names: list[str]) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=[column(name) for name in names])


@kind_of.register
def _(node: Recursive) -> Kind:
    return "linear" if _takes_sides(node) and not may_change(node.step) else "whole"
