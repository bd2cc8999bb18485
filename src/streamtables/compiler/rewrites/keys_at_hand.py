"""Take keys from the changes themselves, where computing them would only leave some out.

    K = keys(ΔR ⟗ …)  ⊆  keys of the columns that they come from

Any set that holds the touched keys is as good as they are: what it names beyond them did not
change.  Rows of found tables are few, so a join that only finds out which of them are needed
costs more than it spares.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import Keys, Node, Project, Projection, Scan, Sum
from streamtables.compiler.algebra.held_values import has_every_value, values_of
from streamtables.compiler.rewrites.rebuild import in_order, rebuild
from streamtables.compiler.rewrites.share_equal import share_equal


def keys_at_hand(root: Node, wanted: Node | None) -> Node:
    """Return the relation with larger sets of keys that nobody has to compute.

    Not so those that are `wanted` for their own sake.
    """
    return share_equal(rebuild(root, lambda old, new: new if old is wanted else _at_hand(new)))


def _at_hand(node: Node) -> Node:
    """Return keys as a union of columns that are at hand; any other relation as it is."""
    if not isinstance(node, Keys) or len(node.key_columns) != 1:
        return node
    [name] = node.key_columns
    values = values_of(node.input, name)
    if values is None or values.null or not values.columns or has_every_value(node, name):
        return node
    below = in_order(node.input)
    kind = node.input.type_of(name)
    terms = []
    for held in sorted(values.columns):
        scan, column = next(
            (item, field.name)
            for item in below
            if isinstance(item, Scan) and (item.table, item.relation) == (held.table, held.relation)
            for field in item.fields
            if field.source == held.column
        )
        reference = exp.Column(this=exp.to_identifier(column, quoted=True))
        terms.append(Project(scan, (Projection(name, reference, kind),)))
    rows = terms[0] if len(terms) == 1 else Sum(tuple(terms))
    return replace(node, input=rows)
