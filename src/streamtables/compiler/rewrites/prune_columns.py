"""Cut every relation to the columns that something above it reads.

What a scan leaves out never leaves the disk, and an update of it alone nets to nothing.  Of signed
rows a netting groups by all that it gets; fewer columns make more rows equal, and their weights add
up to the same.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Existence,
    Filter,
    Generate,
    InnerJoin,
    Keys,
    LeftJoin,
    Negate,
    Net,
    Node,
    Probe,
    Project,
    Projection,
    Repeat,
    Restrict,
    Scan,
    Sum,
    TopK,
    Touched,
    Unfold,
    UnionAll,
    Weighed,
    Window,
    WindowCall,
)
from streamtables.compiler.algebra.expressions import columns_in, columns_in_all
from streamtables.compiler.algebra.promised import has_made_key
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.rewrites.rebuild import in_order

_EXACT = (UnionAll, Sum, Net, Repeat, Unfold)
"""Operators whose inputs show exactly the columns that are read of them."""


def prune_columns(root: Node) -> Node:
    """Return the same relation without columns that nothing reads."""
    needed: dict[int, set[str]] = {id(root): set(root.names)}
    below_keys = _below_keys(root)
    for node in reversed(in_order(root)):
        if isinstance(node, Net) and id(node) in below_keys:
            # Cut first, the halves of an update would cancel, and its key would be missing.
            needed[id(node)] = set(node.names)
        if isinstance(node, _EXACT) and needed[id(node)].isdisjoint(node.inputs[0].names):
            # Rows that are only counted still show one column, and all parts the same.
            needed[id(node)].add(node.inputs[0].names[0])
        for child, names in zip(node.inputs, _reads(node, needed[id(node)]), strict=True):
            needed.setdefault(id(child), set()).update(names)
    return _rebuilt(root, needed)


def _below_keys(root: Node) -> set[int]:
    """Return all parts that stand below a set of keys."""
    found: set[int] = set()
    for node in reversed(in_order(root)):
        if isinstance(node, Keys) or id(node) in found:
            found.update(id(part) for part in node.inputs)
    return found


def _rebuilt(root: Node, needed: dict[int, set[str]]) -> Node:
    rebuilt: dict[int, Node] = {}
    for node in in_order(root):
        parts = tuple(rebuilt[id(part)] for part in node.inputs)
        if isinstance(node, _EXACT):
            # A part may show more, for others that read it; here all must show the same.
            shown = [name for name in node.inputs[0].names if name in needed[id(node)]]
            parts = tuple(_shown(part, shown) for part in parts)
        same = all(new is old for new, old in zip(parts, node.inputs, strict=True))
        rebuilt[id(node)] = _cut(node if same else node.with_inputs(*parts), needed[id(node)])
    return rebuilt[id(root)]


def _reads(node: Node, needed: set[str]) -> list[set[str]]:
    """Return, for each input, the columns of it that the node reads to give `needed`."""
    match node:
        case Filter():
            return [needed | columns_in(node.condition)]
        case Project():
            kept = _kept_projections(node, needed)
            return [set().union(*(columns_in(item.expression) for item in kept))]
        case InnerJoin():
            wanted = needed.union(*(columns_in(item) for item in node.conditions))
            return [wanted & set(part.names) for part in node.parts]
        case Probe():
            wanted = needed | columns_in_all(node.conditions)
            return [wanted & set(node.left.names), wanted & set(node.right.names)]
        case Generate():
            return [(needed | columns_in(node.call)) & set(node.input.names)]
        case Window():
            kept_calls = [call for call in node.calls if call.name in needed]
            read = needed | set(node.partition) | _window_reads(kept_calls)
            return [read & set(node.input.names)]
        case TopK():
            return [needed | set(node.partition) | columns_in_all(node.order)]
        case Aggregate():
            return [_aggregate_reads(node, needed)]
        case Keys():
            return [set(node.key_columns)]
        case Restrict():
            return [needed | {name for name, _ in node.on}, set(node.keys.names)]
        case Touched():
            looked_up = {name for pairs in node.pairs for name, _ in pairs}
            return [needed | looked_up, *(set(keys.names) for keys in node.key_sets)]
        case Weighed():
            wanted = needed | columns_in_all(node.conditions)
            return [wanted & set(part.names) for part in node.inputs]
        case UnionAll() | Sum():
            # A union that loses all its columns keeps the first, as its branches do.
            return [needed or {node.names[0]} for _ in node.inputs]
        case Net() | Negate() | Repeat() | Unfold():
            return [needed]
        case _:
            # DISTINCT, a recursion and the like: every column decides.
            return [set(part.names) for part in node.inputs]


def _aggregate_reads(node: Aggregate, needed: set[str]) -> set[str]:
    read = set(node.group)
    for call in _kept_calls(node, needed):
        read.update(*(columns_in(argument) for argument in call.arguments))
        read.update(columns_in(call.condition) if call.condition is not None else ())
        read.update(columns_in_all(call.order))
    return read


def _kept_calls(node: Aggregate, needed: set[str]) -> tuple[AggregateCall, ...]:
    """Return the calls that something reads; an aggregate of all rows keeps one at least."""
    kept = tuple(call for call in node.calls if call.name in needed)
    return kept if kept or node.group else node.calls[:1]


def _window_reads(calls: list[WindowCall]) -> set[str]:
    return columns_in_all(item for call in calls for item in (call.function, *call.order))


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
            return replace(node, calls=_kept_calls(node, needed))
        case Window():
            window_calls = tuple(call for call in node.calls if call.name in needed)
            return replace(node, calls=window_calls) if window_calls else node.input
        case LeftJoin() if _only_keeps(node) and needed.isdisjoint(node.right.names):
            return node.left
        case Existence(mode="mark") if node.mark not in needed:
            return node.left
        case _:
            return node


def _only_keeps(join: LeftJoin) -> bool:
    """Whether a join leaves each left row as it is, but for the columns that it adds."""
    return join.matches_once and has_made_key(join.right)


def _shown(node: Node, names: list[str]) -> Node:
    if list(node.names) == names:
        return node
    return Project(node, tuple(Projection(n, column(n), node.type_of(n)) for n in names))
