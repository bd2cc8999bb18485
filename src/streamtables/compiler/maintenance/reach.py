"""How far a change reaches: which stored rows a changed row of the only table can touch.

Where a query reads one table, and each stored row follows from the rows with the same values in
some of its columns, two changes without a common value never meet.
"""

from __future__ import annotations

from streamtables.compiler.algebra import Filter, Node, Project, Scan
from streamtables.compiler.maintenance.forms import Maintenance


def reached_by(kept: Maintenance) -> tuple[str, ...] | None:
    """Return the columns of the table whose values say which stored rows a changed row can touch.

    () where a changed row touches nothing but what it becomes itself; None where it may touch any.
    """
    if kept.chain is None:
        return _columns_below(kept.definition, ())
    names = kept.chain.keyed.key_columns
    return _columns_below(kept.chain.keyed.inputs[0], names) if names else None


def _columns_below(node: Node, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Follow columns down to the table that they come from, unchanged."""
    while not isinstance(node, Scan):
        if isinstance(node, Project):
            passing = {item.name: item.passes for item in node.projections}
            found = [passing.get(name) for name in names]
            if None in found:
                return None
            names = tuple(name for name in found if name is not None)
        elif not isinstance(node, Filter):
            return None
        node = node.inputs[0]
    sources = {field.name: field.source for field in node.fields}
    return tuple(sources[name] for name in names)
