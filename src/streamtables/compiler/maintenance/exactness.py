"""Which aggregates give the same answer however their rows are ordered.

A sum of floats does not, nor a variance: recomputing it need not give back the stored digits.
Such an aggregate may only stand at the root of a plan, where its row is found by its key and never
by its value; below it, floats are added in a fixed order.
"""

from __future__ import annotations

from streamtables.compiler.algebra import Aggregate, AggregateCall, Node
from streamtables.compiler.frontend.functions import FLOATING, SUMS
from streamtables.compiler.frontend.own_aggregates import is_floating
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.types import is_decimal, is_integer


def is_exact(call: AggregateCall) -> bool:
    """Whether an aggregate's answer depends on the rows alone."""
    if call.sorted_sum:
        return True
    if call.function in FLOATING or (call.own and is_floating(call.type)):
        return False
    if call.function not in SUMS:
        return True
    return all(is_integer(item) or is_decimal(item) for item in call.argument_types)


def inexact_below(root: Node, at_root: Node | None) -> AggregateCall | None:
    """Return an inexact aggregate that stands anywhere but at the root, if there is one."""
    for node in in_order(root):
        if isinstance(node, Aggregate) and node is not at_root:
            for call in node.calls:
                if not is_exact(call):
                    return call
    return None
