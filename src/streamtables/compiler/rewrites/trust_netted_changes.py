"""Leave out the netting of changes that arrive netted on exactly the columns a scan reads.

The engine nets what it binds: small changes on the driver, where it costs next to nothing, large
ones by a shuffle.  A second GROUP BY over them would be one shuffle more.
"""

from __future__ import annotations

from streamtables.compiler.algebra import Filter, Net, Node, Project, Scan
from streamtables.compiler.rewrites.rebuild import rebuild


def trust_netted_changes(root: Node, *, root_too: bool) -> Node:
    """Return the same relation without nets that stand directly on a table's changes.

    A root that stays is netted: below it rows that a projection made equal may be apart.
    """

    def strip(old: Node, new: Node) -> Node:
        if old is root and not root_too:
            return new
        return new.input if isinstance(new, Net) and _is_changes(new.input) else new

    return rebuild(root, strip)


def _is_changes(node: Node) -> bool:
    while isinstance(node, Filter | Project):
        node = node.input
    return isinstance(node, Scan) and node.version == "changes"
