"""Read `before` as `after − changes`, so that no old version of a table has to be opened.

    X = X′ − ΔX            exact in signed bags

Under joins, filters and projections the weights simply travel along.  An operator that looks at
groups of rows needs plain ones: there the weights are netted and each row is repeated as often as
its weight says; a negative net weight means that the changes are not those of the table.  Counts
alone are had by adding the weights up.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import (
    Aggregate,
    Keyed,
    Negate,
    Net,
    Node,
    Probe,
    Repeat,
    Restrict,
    Scan,
    Sum,
    Touched,
)
from streamtables.compiler.algebra.recursive import Recursive
from streamtables.compiler.rewrites.count_weights import counted_weights, only_counts
from streamtables.compiler.rewrites.rebuild import rebuild


def before_from_after(root: Node) -> Node:
    """Return the same relation with no scan of an old version left."""
    return rebuild(root, _replace)


def _replace(old: Node, new: Node) -> Node:
    match new:
        case Recursive() if isinstance(old, Recursive):
            # Weights cannot travel through a recursion, so its tables are plain from the start.
            return rebuild(old, _plain_tables)
        case Scan(version="before", found=""):
            changes = replace(new, version="changes")
            return Sum((replace(new, version="after"), Negate(changes)))
        case Restrict(input=Sum() as total):
            # A restriction belongs on the scans, where it saves reading.
            return Sum(tuple(_restricted(term, new) for term in total.terms))
        case Touched(input=Sum() as total):
            return Sum(tuple(_touched(term, new) for term in total.terms))
        case Aggregate() if new.input.signed and only_counts(new):
            return counted_weights(new)
        case Keyed() if new.input.signed:
            return new.with_inputs(_plain(new.input))
        case Probe() if new.right.signed:
            return new.with_inputs(new.left, _plain(new.right))
        case _:
            return new


def _touched(term: Node, node: Touched) -> Node:
    if isinstance(term, Negate):
        return Negate(_touched(term.input, node))
    return replace(node, input=term)


def _plain_tables(_: Node, new: Node) -> Node:
    if isinstance(new, Scan) and new.version == "before" and not new.found:
        changes = replace(new, version="changes")
        return _plain(Sum((replace(new, version="after"), Negate(changes))))
    return new


def _plain(signed: Node) -> Node:
    return Repeat(Net(signed), plain=True)


def _restricted(term: Node, restriction: Restrict) -> Node:
    if isinstance(term, Negate):
        return Negate(_restricted(term.input, restriction))
    return Restrict(term, restriction.keys, restriction.on)
