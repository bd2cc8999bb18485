"""The scan of found rows from which the values of a column pass through a relation unchanged.

    σ_{c ∈ S}(X)        is X over σ_{c ∈ S} of that scan, for every set S

So whoever needs only rows with some values of the column may take other rows away there.
"""

from __future__ import annotations

from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Node
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.project import Project
from streamtables.compiler.algebra.restriction import Restrict
from streamtables.compiler.algebra.scan import Scan
from streamtables.compiler.algebra.signed import Negate, Net
from streamtables.compiler.algebra.touched import Touched


def found_scan(node: Node, column: str) -> tuple[Scan, str] | None:
    """Return the scan, and the column of its table; None where there is none of found rows."""
    if isinstance(node, Scan):
        [source] = [field.source for field in node.fields if field.name == column]
        return (node, source) if node.found else None
    below = input_with(node, column)
    return None if below is None else found_scan(node.inputs[below[0]], below[1])


def input_with(node: Node, column: str) -> tuple[int, str] | None:
    """Return the input that a column passes from, if rows with some values of it are all it takes.

    Rows of one group share its columns, so a group is found whole or not at all.
    """
    match node:
        case Project():
            [item] = [item for item in node.projections if item.name == column]
            same = item.passes is not None and node.input.type_of(item.passes) == item.type
            return (0, item.passes) if same and item.passes is not None else None
        case Filter() | Net() | Negate() | Restrict() | Touched():
            return 0, column
        case Keyed() if column in node.key_columns:
            return 0, column
        case InnerJoin():
            [place] = [i for i, part in enumerate(node.parts) if column in part.names]
            return place, column
        case Probe() if column in node.left.names:
            return 0, column
        case _:
            return None
