"""Leave out restrictions that the lookup of the rows has answered already.

    found(X, K) ⋉ K = found(X, K)        where K has every value that was looked up

A lookup may look for more values than the keys have, as it goes by the columns that they come from.
Where they have all of them, it found the rows of the restriction and no others.
"""

from __future__ import annotations

from streamtables.compiler.algebra import (
    Filter,
    Keys,
    Negate,
    Net,
    Node,
    Project,
    Repeat,
    Restrict,
    Scan,
    Sum,
    UnionAll,
)
from streamtables.compiler.algebra.held_values import Values, has_every_value, values_of
from streamtables.compiler.rewrites.rebuild import rebuild
from streamtables.compiler.rewrites.wanted_rows import LookupBook


def found_as_asked(root: Node, book: LookupBook) -> Node:
    """Return the relation without restrictions that keep every row that was found."""

    def answered(_: Node, node: Node) -> Node:
        if not isinstance(node, Restrict) or len(node.on) != 1 or not isinstance(node.keys, Keys):
            return node
        [(column, key)] = node.on
        if not has_every_value(node.keys, key):
            return node
        values = values_of(node.keys, key)
        kept = values is not None and _has_only(node.input, column, values, book)
        return node.input if kept else node

    return rebuild(root, answered)


def _has_only(node: Node, column: str, values: Values, book: LookupBook) -> bool:
    """Whether each row was found by one of the values in the column."""
    match node:
        case Scan() if node.found:
            [source] = [field.source for field in node.fields if field.name == column]
            return book.finds_only((node.table, node.found), source, values)
        case Project():
            [passes] = [item.passes for item in node.projections if item.name == column]
            return passes is not None and _has_only(node.input, passes, values, book)
        case Filter() | Net() | Negate() | Repeat() | Restrict():
            return _has_only(node.input, column, values, book)
        case Sum() | UnionAll():
            return all(_has_only(item, column, values, book) for item in node.inputs)
        case _:
            return False
