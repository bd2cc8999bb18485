"""Which relations are as small as the changes they follow from.

A relation is bounded when it holds nothing but changes, rows that changes name by a key, or what
is computed from such rows alone.
"""

from __future__ import annotations

from streamtables.compiler.algebra.clock import Clock
from streamtables.compiler.algebra.constant import Constant
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.node import Empty, Node, kept
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.restriction import Restrict
from streamtables.compiler.algebra.scan import Scan
from streamtables.compiler.algebra.touched import Touched
from streamtables.compiler.algebra.weighed import Weighed


@kept
def is_bounded(node: Node) -> bool:
    """Whether a relation grows with the changes, not with the tables."""
    match node:
        case Scan():
            return node.version == "changes" or bool(node.found)
        case Restrict() | Touched() | Constant() | Clock() | Empty():
            return True
        case InnerJoin():
            return any(is_bounded(part) for part in node.parts)
        case Probe():
            return is_bounded(node.left)
        case Weighed():
            return is_bounded(node.input)
        case _:
            return bool(node.inputs) and all(is_bounded(item) for item in node.inputs)


def works_on_tables(node: Node) -> bool:
    """Whether an operator that compares rows has to look at whole tables."""
    if isinstance(node, Probe):
        return not is_bounded(node.left)
    return node.compares_rows and not all(is_bounded(item) for item in node.inputs)
