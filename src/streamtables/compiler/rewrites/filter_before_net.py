"""Filter changes first and net them afterwards: fewer rows to group."""

from __future__ import annotations

from streamtables.compiler.algebra import Filter, Net, Node
from streamtables.compiler.rewrites.rebuild import rebuild


def filter_before_net(root: Node) -> Node:
    """Return the same relation with every filter over a netting moved below it."""

    def swap(_: Node, new: Node) -> Node:
        if isinstance(new, Filter) and isinstance(new.input, Net):
            return Net(Filter(new.input.input, new.condition))
        return new

    return rebuild(root, swap)
