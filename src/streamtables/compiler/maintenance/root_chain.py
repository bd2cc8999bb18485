"""The keyed operator at the root of a query, below nothing but projections and filters.

Such a result can be kept group by group: its stored rows are found by the group's key, so no old
value has to be computed again.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.algebra import Filter, Keyed, Node, Project, TopK


@dataclass(frozen=True)
class RootChain:
    """A keyed operator and the chain above it, from the top down."""

    above: tuple[Node, ...]
    keyed: Keyed

    @property
    def filtered(self) -> bool:
        """Whether a filter (HAVING, say) hides some of the groups."""
        return any(isinstance(node, Filter) for node in self.above)

    def rebuilt(self, keyed: Node) -> Node:
        """Return the chain over another relation with the same columns."""
        result = keyed
        for node in reversed(self.above):
            result = node.with_inputs(result)
        return result


def root_chain(root: Node) -> RootChain | None:
    """Return the keyed operator at the root, if the root is one that stores its key."""
    above: list[Node] = []
    node = root
    while isinstance(node, Project | Filter):
        above.append(node)
        node = node.input
    if not isinstance(node, Keyed) or root.key is None:
        return None
    # The first rows of all are one group, of which no key tells: all stored rows are its rows.
    first_rows = isinstance(node, TopK) and not node.partition
    if node.key != node.key_columns and not first_rows:
        return None
    return RootChain(tuple(above), node)
