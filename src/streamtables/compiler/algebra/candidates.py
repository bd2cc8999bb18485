"""Which keys a change may concern, found without computing the change itself.

The change of a group holds its key, but to know it all of the group's rows must be read.  The keys
of the changed input rows are found in the changes alone, and hold all of those:

    keys(ΔOp(X)) ⊆ keys(ΔX)

Who only wants to know where to look takes the larger set.
"""

from __future__ import annotations

from functools import singledispatch

from streamtables.compiler.algebra.node import Node, changes_of, may_change

Names = tuple[str, ...]


def candidates(node: Node, names: Names) -> Node:
    """Return rows that hold all values of some columns that changed rows of a relation have."""
    below = candidates_below(node, names) if may_change(node) else None
    return changes_of(node) if below is None else below


@singledispatch
def candidates_below(node: Node, names: Names) -> Node | None:
    """Return such rows from below an operator; None where its own changes are as easy to find."""
    return None
