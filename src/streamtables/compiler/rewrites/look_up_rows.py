"""Read the rows that keys name in the place of a table, where the keys are at hand.

A small change reaches a table only by equalities: rows with one of its keys, rows that join it.
Such keys are values of rows that are on the driver already (held_values.py).  So whoever runs the
program can fetch the rows of a table that have them, in one pass and before anything is computed,
and Spark works on a few rows where it would plan and read a table.

    X ⋉ K         the rows of X with a value of K            (also under any of several K)
    ΔR ⋈ X        the rows of X with a value of ΔR in the column that must equal it

The conditions stay in the program.  A lookup may find more than they ask for, never less, so the
answer is the same.  Plain ones that a filter above asks for (note_conditions.py) are conditions of
the lookup too: each row that it leaves out spares a lookup of what the row names, and of what has
to equal it (found_by_partner.py).  Rows are looked up in a table as it is, and as it was: what was
there before is what is found now without the changes, and those are on the driver too.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.compiler.algebra import (
    Existence,
    Filter,
    InnerJoin,
    Negate,
    Net,
    Node,
    Probe,
    Project,
    Restrict,
    Scan,
    Sum,
    Touched,
    UnionAll,
)
from streamtables.compiler.algebra.held_values import Values, values_of
from streamtables.compiler.algebra.restriction import On
from streamtables.compiler.rewrites.found_by_partner import found_by_partner
from streamtables.compiler.rewrites.note_conditions import note_conditions, without_conditions
from streamtables.compiler.rewrites.rebuild import rebuild
from streamtables.compiler.rewrites.wanted_rows import AnyOf, LookupBook, round_of
from streamtables.compiler.types import has_plain_image


def look_up_rows(root: Node) -> tuple[Node, LookupBook]:
    """Return the relation over found rows, and the book of what is to be found."""
    book = LookupBook()
    found = rebuild(note_conditions(root), lambda _, new: _narrowed_inputs(new, book))
    return without_conditions(found), book


def _narrowed_inputs(node: Node, book: LookupBook) -> Node:
    match node:
        case Restrict():
            wanted = _asked(node.input, node.keys, node.on)
            return _over(node, (_narrowed(node.input, wanted, book), node.keys))
        case Touched():
            key_sets = zip(node.key_sets, node.pairs, strict=True)
            each = [_asked(node.input, keys, on) for keys, on in key_sets]
            wanted = tuple(item for one in each for item in one) if all(each) else ()
            return _over(node, (_narrowed(node.input, wanted, book), *node.key_sets))
        case InnerJoin():
            return _joined(node, book)
        case Probe():
            return _probed(node, book)
        case _:
            return node


def _joined(join: InnerJoin, book: LookupBook) -> Node:
    """Look up the rows of one input after the other, from those that are at hand."""
    parts = list(join.parts)
    pairs = (*join.equalities, *((right, left) for left, right in join.equalities))
    moved = True
    while moved:
        moved = False
        for place, part in enumerate(parts):
            others = parts[:place] + parts[place + 1 :]
            new = _narrowed(part, _asked_by_any(part, others, pairs), book)
            if new is not part:
                parts[place], moved = new, True
    for place, part in enumerate(parts):
        others = parts[:place] + parts[place + 1 :]
        parts[place] = _found_by_any(part, others, pairs, book)
    return _over(join, tuple(parts))


def _probed(node: Probe, book: LookupBook) -> Node:
    """Look up what left rows ask for; of a semi join also the left rows that can be answered."""
    left, right = node.left, node.right
    pairs = tuple((right, left) for left, right in node.equalities)
    right = _narrowed(right, _asked(right, left, pairs), book)
    right = _found_by_any(right, (left,), pairs, book)
    if _keeps_matches_alone(node):
        left = _found_by_any(left, (right,), node.equalities, book)
    return _over(node, (left, right))


def _keeps_matches_alone(probe: Probe) -> bool:
    return isinstance(probe, Existence) and probe.mode == "semi"


def _found_by_any(part: Node, others: Sequence[Node], pairs: On, book: LookupBook) -> Node:
    """Return an input found by the rows of one that it has to equal, where these are fewer."""
    for other in others:
        for own, theirs in pairs:
            if own in part.names and theirs in other.names:
                new = found_by_partner((part, own), (other, theirs), book)
                if new is not part:
                    return new
    return part


def _asked_by_any(part: Node, others: Sequence[Node], pairs: On) -> AnyOf:
    """Return what an input is asked for by the others; of several, by what is at hand first."""
    each = []
    for other in others:
        own = tuple((a, b) for a, b in pairs if a in part.names and b in other.names)
        each.append(_asked(part, other, own))
    return min((item for item in each if item), key=round_of, default=())


def _asked(node: Node, keys: Node, on: On) -> AnyOf:
    """Return the pairs whose values are at hand, and are equal only where they are the same."""
    found: dict[str, Values] = {}
    for column, key in on:
        kind = node.type_of(column)
        values = values_of(keys, key)
        if values is None or not has_plain_image(kind) or kind != keys.type_of(key):
            continue
        found.setdefault(column, values)
    return (tuple(found.items()),) if found else ()


def _narrowed(node: Node, wanted: AnyOf, book: LookupBook) -> Node:
    """Return the relation over found rows; itself where a table below is needed as a whole."""
    if not wanted:
        return node
    match node:
        case Scan(version="after" | "before", found=""):
            return book.found(node, wanted)
        case Project():
            return _over(node, (_narrowed(node.input, _below(node, wanted), book),))
        case Filter() | Net() | Negate() | Sum() | UnionAll():
            return _over(node, tuple(_narrowed(item, wanted, book) for item in node.inputs))
        case Restrict() | Touched():
            first, *keys = node.inputs
            return _over(node, (_narrowed(first, wanted, book), *keys))
        case _:
            return node


def _below(node: Project, wanted: AnyOf) -> AnyOf:
    """Return what is wanted of the input; nothing where one of several has no column there."""
    origin = {item.name: item.passes for item in node.projections}
    each = [
        tuple((name, values) for column, values in one if (name := origin[column]) is not None)
        for one in wanted
    ]
    return tuple(each) if all(each) else ()


def _over(node: Node, inputs: tuple[Node, ...]) -> Node:
    same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
    return node if same else node.with_inputs(*inputs)
