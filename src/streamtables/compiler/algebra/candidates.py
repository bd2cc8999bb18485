"""Which keys a change may concern, found without computing the change itself.

The change of a group holds its key, but to know it all of the group's rows must be read.  The keys
of the changed input rows are found in the changes alone, and hold all of those:

    keys(ΔOp(X)) ⊆ keys(ΔX)

Who only wants to know where to look takes the larger set, and looks up fewer groups afterwards.
"""

from __future__ import annotations

from functools import singledispatch

from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Node, changes_of
from streamtables.compiler.algebra.project import Project


def candidates(node: Node, names: tuple[str, ...]) -> Node:
    """Return rows that hold all values of some columns that changed rows of a relation have."""
    return _from_below(node, names) or changes_of(node)


@singledispatch
def _from_below(node: Node, names: tuple[str, ...]) -> Node | None:
    """Return rows from below an operator on groups; None where there is no such operator."""
    return None


@_from_below.register
def _(node: Keyed, names: tuple[str, ...]) -> Node | None:
    if not names or not set(names) <= set(node.key_columns):
        return None
    return candidates(node.input, names)


@_from_below.register
def _(node: Filter, names: tuple[str, ...]) -> Node | None:
    # The condition may ask for what only the groups have, and fewer keys are not needed.
    return _from_below(node.input, names)


@_from_below.register
def _(node: Project, names: tuple[str, ...]) -> Node | None:
    wanted = [item for item in node.projections if item.name in names]
    sources = tuple(item.passes for item in wanted if item.passes is not None)
    if len(sources) < len(wanted):
        return None
    rows = _from_below(node.input, tuple(dict.fromkeys(sources)))
    return None if rows is None else Project(rows, tuple(wanted))
