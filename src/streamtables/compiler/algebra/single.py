"""Which changes are those of a relation that has at most one row."""

from __future__ import annotations

from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.node import Node
from streamtables.compiler.algebra.project import Project
from streamtables.compiler.algebra.signed import Negate, Net, Sum


def is_change_of_one_row(node: Node) -> bool:
    """Whether a signed relation is at most one row after a refresh minus one before it."""
    while isinstance(node, Project | Filter | Net):
        node = node.input
    if not isinstance(node, Sum) or len(node.terms) != 2:
        return False
    new, old = node.terms
    return isinstance(old, Negate) and _has_one_row(new) and _has_one_row(old.input)


def _has_one_row(node: Node) -> bool:
    return not node.signed and node.key == ()
