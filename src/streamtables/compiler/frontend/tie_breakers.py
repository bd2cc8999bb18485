"""Orders without ties: what a result depends on beyond the user's own ORDER BY.

The rows' key tells all rows apart.  Without a key all columns do, up to rows that are equal anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from streamtables.compiler.algebra import Column, Node
from streamtables.compiler.frontend.binding import column


def tie_breakers(node: Node, *, descending: bool = False) -> tuple[exp.Expr, ...]:
    """Return what to order by last, so that the order of different rows is fixed."""
    return tuple(_ordered(name, descending=descending) for name in tie_columns(node))


def tie_columns(node: Node) -> tuple[str, ...]:
    """Return the columns that tell the rows of a relation apart as far as an order can."""
    if node.key is not None:
        return node.key
    return tuple(item.name for item in node.columns if is_orderable(item))


def is_orderable(item: Column) -> bool:
    """Whether values of a column can be sorted."""
    return "map<" not in item.type and "variant" not in item.type


def without_repeats(order: Iterable[exp.Expr]) -> tuple[exp.Expr, ...]:
    """Leave out what an earlier part of an order already sorts by."""
    seen: list[exp.Expr] = []
    kept: list[exp.Expr] = []
    for item in order:
        if item.this not in seen:
            seen.append(item.this)
            kept.append(item)
    return tuple(kept)


def _ordered(name: str, *, descending: bool) -> exp.Ordered:
    return exp.Ordered(this=column(name), desc=descending, nulls_first=not descending)
