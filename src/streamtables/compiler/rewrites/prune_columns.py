"""Cut every relation to the columns that something above it reads.

What a scan leaves out never leaves the disk, and an update of it alone nets to nothing.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    Distinct,
    Filter,
    InnerJoin,
    Node,
    Project,
    Projection,
    Scan,
    UnionAll,
)
from streamtables.compiler.rewrites.rebuild import in_order, rebuild


def prune_columns(root: Node) -> Node:
    """Return the same relation without columns that nothing reads."""
    needed: dict[int, set[str]] = {id(root): set(root.names)}
    for node in reversed(in_order(root)):
        for child, names in zip(node.inputs, _reads(node, needed[id(node)]), strict=True):
            needed.setdefault(id(child), set()).update(names)
    return rebuild(root, lambda old, new: _cut(new, needed[id(old)]))


def _reads(node: Node, needed: set[str]) -> list[set[str]]:
    """Return, for each input, the columns of it that the node reads to give `needed`."""
    match node:
        case Filter():
            return [needed | _columns(node.condition)]
        case Project():
            kept = _kept_projections(node, needed)
            return [set().union(*(_columns(item.expression) for item in kept))]
        case InnerJoin():
            wanted = needed.union(*(_columns(item) for item in node.conditions))
            return [wanted & set(part.names) for part in node.parts]
        case Aggregate():
            return [_aggregate_reads(node, needed)]
        case Distinct():
            return [set(node.input.names)]
        case UnionAll():
            # A union that loses all its columns keeps the first, as its branches do.
            return [needed or {node.names[0]} for _ in node.branches]
        case _:
            return [needed for _ in node.inputs]


def _aggregate_reads(node: Aggregate, needed: set[str]) -> set[str]:
    read = set(node.group)
    for call in node.calls:
        if call.name in needed:
            read.update(*(_columns(argument) for argument in call.arguments))
            read.update(_columns(call.condition) if call.condition is not None else ())
    return read


def _columns(expression: exp.Expr) -> set[str]:
    return {item.name for item in expression.find_all(exp.Column)}


def _kept_projections(node: Project, needed: set[str]) -> tuple[Projection, ...]:
    kept = tuple(item for item in node.projections if item.name in needed)
    return kept or node.projections[:1]


def _cut(node: Node, needed: set[str]) -> Node:
    match node:
        case Scan():
            kept = tuple(field for field in node.fields if field.name in needed)
            kept = kept or node.fields[:1]
            return replace(node, fields=kept, pruned=node.pruned or len(kept) < len(node.fields))
        case Project():
            return replace(node, projections=_kept_projections(node, needed))
        case Aggregate():
            calls = tuple(call for call in node.calls if call.name in needed)
            return replace(node, calls=calls) if calls or node.group else node
        case _:
            return node
