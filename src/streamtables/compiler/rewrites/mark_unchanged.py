"""Tell the scans which tables did not change, so that their terms are never made.

`differentiate` gives nothing for a relation that cannot change, and `at("before", …)` is then the
same as `at("after", …)`.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import CLOCK_TABLE, Clock, Node, Scan
from streamtables.compiler.rewrites.rebuild import in_order, rebuild


def tables_below(root: Node) -> frozenset[str]:
    """Return everything that a plan reads and that may change, the clock included."""
    nodes = in_order(root)
    clock = {CLOCK_TABLE for node in nodes if isinstance(node, Clock)}
    return frozenset({node.table for node in nodes if isinstance(node, Scan)} | clock)


def mark_unchanged(root: Node, changed: frozenset[str]) -> Node:
    """Return the plan for a refresh in which only the tables in `changed` have changes."""

    def mark(_: Node, new: Node) -> Node:
        if isinstance(new, Scan) and new.table not in changed:
            return replace(new, still=True)
        if isinstance(new, Clock) and CLOCK_TABLE not in changed:
            return replace(new, still=True)
        return new

    return rebuild(root, mark)
