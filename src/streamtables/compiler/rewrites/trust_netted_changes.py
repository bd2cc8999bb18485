"""Leave out the netting of changes that arrive netted on exactly the columns a scan reads.

The engine nets small changes on the driver, where it costs next to nothing; a GROUP BY over them
would be a shuffle.
"""

from __future__ import annotations

from streamtables.compiler.algebra import Filter, Net, Node, Project, Scan
from streamtables.compiler.rewrites.rebuild import rebuild


def trust_netted_changes(root: Node) -> Node:
    """Return the same relation without nets that stand directly on a table's changes."""

    def strip(_: Node, new: Node) -> Node:
        return new.input if isinstance(new, Net) and _is_changes(new.input) else new

    return rebuild(root, strip)


def _is_changes(node: Node) -> bool:
    while isinstance(node, Filter | Project):
        node = node.input
    return isinstance(node, Scan) and node.version == "changes"
