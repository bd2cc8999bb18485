"""Add floats in a fixed order where an operator above reads a sum, a variance or the like.

Recomputed, a sum of floats may differ in its last digits from the one that was read before, and
then what goes would not match what was there.  At the root of a plan a row is found by its key, so
there the sum stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import Aggregate, AggregateCall, Node
from streamtables.compiler.frontend.functions import FLOATING, SUMS
from streamtables.compiler.maintenance.exactness import is_exact
from streamtables.compiler.rewrites.rebuild import rebuild


def sort_float_sums(root: Node, at_root: Node | None) -> Node:
    """Return the same relation with sums of floats below the root made deterministic."""

    def settle(old: Node, new: Node) -> Node:
        if not isinstance(new, Aggregate) or old is at_root:
            return new
        if all(is_exact(call) for call in new.calls):
            return new
        return replace(new, calls=tuple(_settled(call) for call in new.calls))

    return rebuild(root, settle)


def _settled(call: AggregateCall) -> AggregateCall:
    if is_exact(call) or not _has_order(call):
        return call
    return replace(call, sorted_sum=True)


def _has_order(call: AggregateCall) -> bool:
    """Whether the values can be put in an order; Spark's sets of pairs hold some NaN twice."""
    if call.function in FLOATING:
        return not (call.distinct and len(call.arguments) > 1)
    return call.function in SUMS
