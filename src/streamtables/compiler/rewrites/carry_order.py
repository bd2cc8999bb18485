"""Keep the columns that the first rows of a result are ordered by, where the query hides them.

With them the stored rows and the changes tell the next first rows (maintenance/first_rows.py).
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import Node, Project, Projection, TopK
from streamtables.compiler.algebra.expressions import columns_read
from streamtables.compiler.frontend.binding import column

HIDDEN_ORDER = "__st_order_"


def carry_order(root: Project) -> Project:
    """Return the output with the columns of its order added as hidden ones."""
    carried, names = _carry(root.input)
    if root.key is None or not names:
        return root
    shown = {item.passes for item in root.projections}
    missing = [name for name in names if name not in shown]
    hidden = tuple(
        Projection(f"{HIDDEN_ORDER}{number}", column(name), carried.type_of(name))
        for number, name in enumerate(missing, start=1)
    )
    return Project(carried, root.projections + hidden) if hidden else root


def _carry(node: Node) -> tuple[Node, tuple[str, ...]]:
    """Return the relation with the columns of the order passed through, and their names there."""
    if isinstance(node, TopK):
        whole = not node.partition and not node.offset and node.limit is not None
        names = dict.fromkeys(name for item in node.order for name in columns_read(item))
        return node, tuple(names) if whole else ()
    if not isinstance(node, Project):
        return node, ()
    below, names_below = _carry(node.input)
    missing = [name for name in names_below if name not in node.passed]
    more = tuple(Projection(name, column(name), below.type_of(name)) for name in missing)
    carried = replace(node, input=below, projections=node.projections + more)
    return carried, tuple(carried.passed[name] for name in names_below)
