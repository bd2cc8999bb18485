"""Orders without ties: what a result depends on beyond the user's own ORDER BY.

The rows' key tells all rows apart.  Without a key all columns do, up to rows that are equal to the
byte: where an order calls different values equal, or has none of them, their image decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from streamtables.compiler.algebra import Node
from streamtables.compiler.binary_image import in_order
from streamtables.compiler.frontend.binding import column


def tie_breakers(node: Node, *, descending: bool = False) -> tuple[exp.Expr, ...]:
    """Return what to order by last, so that the order of different rows is fixed."""
    return tuple(_ordered(part, descending=descending) for part in tie_parts(node))


def tie_columns(node: Node) -> tuple[str, ...]:
    """Return the columns that tell the rows of a relation apart."""
    return node.names if node.key is None else node.key


def tie_parts(node: Node) -> tuple[exp.Expr, ...]:
    """Return values by whose order different rows never share a place."""
    if node.key is not None:
        return tuple(column(name) for name in node.key)
    return tuple(p for item in node.columns for p in in_order(column(item.name), item.type))


def without_repeats(order: Iterable[exp.Expr]) -> tuple[exp.Expr, ...]:
    """Leave out what an earlier part of an order already sorts by."""
    seen: list[exp.Expr] = []
    kept: list[exp.Expr] = []
    for item in order:
        if item.this not in seen:
            seen.append(item.this)
            kept.append(item)
    return tuple(kept)


def _ordered(part: exp.Expr, *, descending: bool) -> exp.Ordered:
    return exp.Ordered(this=part, desc=descending, nulls_first=not descending)
