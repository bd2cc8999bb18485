"""Let sums of floats at the root be kept by adding, where the user asks for it.

Below the root they are added in a fixed order, and computed again: what an operator reads has to be
what was stored, to the last digit.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import Aggregate, AggregateCall, Node
from streamtables.compiler.rewrites.rebuild import rebuild
from streamtables.compiler.types import is_float

_KEPT = ("sum", "avg", "mean")


def approximate_root_sums(root: Node, at_root: Node | None) -> Node:
    """Return the same relation, with the sums and averages of floats of its root marked."""

    def mark(old: Node, new: Node) -> Node:
        if old is not at_root or not isinstance(new, Aggregate):
            return new
        return replace(new, calls=tuple(map(_marked, new.calls)))

    return rebuild(root, mark)


def _marked(call: AggregateCall) -> AggregateCall:
    kept = call.function in _KEPT and not call.distinct and is_float(call.argument_types[0])
    return replace(call, approximate=True) if kept else call
