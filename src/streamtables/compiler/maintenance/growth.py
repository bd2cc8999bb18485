"""Which results can only grow while the tables that they read only grow."""

from __future__ import annotations

from streamtables.compiler.algebra import (
    Constant,
    Filter,
    Generate,
    InnerJoin,
    Node,
    Project,
    Scan,
    UnionAll,
)
from streamtables.compiler.rewrites.rebuild import in_order

_GROWING = (Scan, Filter, Project, InnerJoin, UnionAll, Generate, Constant)


def only_grows(definition: Node) -> bool:
    """Whether rows that come to a table can never take a row of the result away.

    So it is where every operator is linear in each of its inputs and negates none.
    """
    return all(isinstance(node, _GROWING) for node in in_order(definition))
