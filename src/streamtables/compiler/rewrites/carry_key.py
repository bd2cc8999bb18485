"""Keep the columns that tell a result's rows apart, where the query does not show them.

They travel up through projections and filters and end as hidden columns of the stored table.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import Filter, Node, Project, Projection
from streamtables.compiler.frontend.binding import column

HIDDEN_KEY = "__st_key_"


def carry_key(root: Project) -> Project:
    """Return the output with its missing key columns added as hidden ones."""
    carried = with_key(root.input)
    key = carried.key
    if key is None:
        return root
    shown = {item.passes for item in root.projections}
    hidden = tuple(
        Projection(HIDDEN_KEY + name, column(name), carried.type_of(name))
        for name in key
        if name not in shown
    )
    return Project(carried, root.projections + hidden)


def with_key(node: Node) -> Node:
    """Return the relation with its input's key passed through, as far as rows stay the same."""
    if isinstance(node, Filter):
        return node.with_inputs(with_key(node.input))
    if not isinstance(node, Project):
        return node
    below = with_key(node.input)
    extended = replace(node, input=below)
    if below.key is None or extended.key is not None:
        return extended
    missing = [name for name in below.key if name not in extended.passed]
    more = tuple(Projection(name, column(name), below.type_of(name)) for name in missing)
    return replace(extended, projections=extended.projections + more)
