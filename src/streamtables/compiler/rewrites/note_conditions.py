"""Note at each scan which of its rows whoever reads it asks for.

    σ_p(… scan(T) …)   ⇒   σ_p(… scan(T | p) …)      through operators that σ passes through

The filters stay where they are.  What is noted is a hint for whoever fetches the rows of a table
one by one (look_up_rows.py): those that fail it need not be fetched.  Fewer rows found are fewer
values to look up elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import (
    Filter,
    InnerJoin,
    Negate,
    Net,
    Node,
    Project,
    Restrict,
    Scan,
    Sum,
    Touched,
    UnionAll,
)
from streamtables.compiler.algebra.plain_conditions import PlainCondition, plain_conditions
from streamtables.compiler.rewrites.rebuild import rebuild

Conditions = frozenset[PlainCondition]
_NONE: Conditions = frozenset()


def note_conditions(root: Node) -> Node:
    """Return the relation with conditions at its scans."""
    return _Noting().noted(root, _NONE)


def without_conditions(root: Node) -> Node:
    """Return the relation without what was noted."""

    def plain(_: Node, new: Node) -> Node:
        return replace(new, conditions=()) if isinstance(new, Scan) and new.conditions else new

    return rebuild(root, plain)


class _Noting:
    """Visits each part once for each set of conditions that it is read under."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Conditions], Node] = {}

    def noted(self, node: Node, asked: Conditions) -> Node:
        """Return a relation of which only rows are read that meet all conditions."""
        place = (id(node), asked)
        if place not in self._known:
            self._known[place] = self._visit(node, asked)
        return self._known[place]

    def _visit(self, node: Node, asked: Conditions) -> Node:
        if isinstance(node, Scan):
            return _at_scan(node, asked)
        below = zip(node.inputs, _below(node, asked), strict=True)
        inputs = tuple(self.noted(item, conditions) for item, conditions in below)
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        return node if same else node.with_inputs(*inputs)


def _below(node: Node, asked: Conditions) -> tuple[Conditions, ...]:
    """Return what is asked of each input of a relation of which something is asked."""
    match node:
        case Filter():
            return (asked | frozenset(plain_conditions(node.condition, node.input.type_of)),)
        case Project():
            return (_of_input(node, asked),)
        case Net() | Negate() | Sum() | UnionAll() | InnerJoin():
            return tuple(_as_shown(node, item, asked) for item in node.inputs)
        case Restrict() | Touched():
            return (asked, *(_NONE for _ in node.inputs[1:]))
        case _:
            return (_NONE,) * len(node.inputs)


def _as_shown(node: Node, below: Node, asked: Conditions) -> Conditions:
    """Return the conditions on columns that an input has too, in the same type."""
    return frozenset(
        item
        for item in asked
        if item.column in below.names and below.type_of(item.column) == node.type_of(item.column)
    )


def _of_input(node: Project, asked: Conditions) -> Conditions:
    """Return the conditions on columns that are passed on as they are."""
    origin = {item.name: item for item in node.projections}
    found = set()
    for item in asked:
        shown = origin[item.column]
        if shown.passes is not None and node.input.type_of(shown.passes) == shown.type:
            found.add(replace(item, column=shown.passes))
    return frozenset(found)


def _at_scan(scan: Scan, asked: Conditions) -> Scan:
    if not asked or scan.found or scan.version not in ("before", "after"):
        return scan
    sources = {field.name: field.source for field in scan.fields}
    noted = sorted(replace(item, column=sources[item.column]) for item in asked)
    return replace(scan, conditions=tuple(noted))
