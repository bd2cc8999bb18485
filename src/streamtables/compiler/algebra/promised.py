"""Which keys are a promise of the user, and which are made by an operator.

A declared key may turn out not to be unique.  A key of the result is enforced when rows are
written; where nothing enforces it, rows must not depend on it.
"""

from __future__ import annotations

from streamtables.compiler.algebra.aggregate import Aggregate
from streamtables.compiler.algebra.constant import Constant
from streamtables.compiler.algebra.distinct import Distinct
from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.node import Node
from streamtables.compiler.algebra.project import Project
from streamtables.compiler.algebra.restriction import Restrict


def has_made_key(node: Node) -> bool:
    """Whether the key of a relation is unique whatever was promised about tables."""
    while isinstance(node, Filter | Project | Restrict):
        node = node.input
    return isinstance(node, Aggregate | Distinct | Constant)
