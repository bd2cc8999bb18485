"""ORDER BY … LIMIT n at the root, kept by the stored rows and the changes alone.

Let S be the stored rows, the first n of X, and ΔX = X′ − X.

    C = the rows of S + ΔX that have a positive weight

Every row of X that is not stored comes after the last of S.  So up to the last row of S that is
still there, C has every row of X′, and no other: its first n rows are those of X′ when that row is
among them or after them.  Where S has fewer than n rows it is all of X, and C is all of X′.

The trap: a row that moved behind all of S is in C too, and rows that nobody stored may stand before
it.  Then C does not tell, and the first rows are taken from X′ (`ChangedTables.lost_groups`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import (
    WEIGHT,
    Filter,
    Net,
    Node,
    Project,
    Projection,
    Sum,
    TopK,
    Unfold,
    Window,
    WindowCall,
)
from streamtables.compiler.algebra.expressions import columns_in_all
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.root_chain import RootChain
from streamtables.compiler.types import INT

PLACE = "__st_place"
"""The column that says how many candidates come up to a row, itself included."""

_LIMIT_MAX = 10_000
"""More first rows than this are not worth being brought along at each refresh."""


@dataclass(frozen=True, eq=False)
class FirstRows:
    """The first rows of all, in an order over columns that are stored."""

    limit: int
    order: tuple[exp.Expr, ...]

    def candidates(self, stored: Node, changes: Node) -> Node:
        """Return C, each row with its place in the order."""
        there = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
        rows = Filter(Unfold(Net(Sum((stored, changes)))), there)
        place = WindowCall(
            PLACE, exp.Anonymous(this="row_number", expressions=[]), self.order, None, INT
        )
        placed = Window(rows, (), (place,))
        shown = (*stored.columns, placed.columns[-1])
        return Project(placed, tuple(Projection(c.name, column(c.name), c.type) for c in shown))


def first_rows(root: Node, chain: RootChain) -> FirstRows | None:
    """Return how the first rows at the root are kept; None where the stored rows do not tell."""
    first = chain.keyed
    if not isinstance(first, TopK) or first.partition or first.offset or first.limit is None:
        return None
    if first.limit > _LIMIT_MAX or len(chain.above) != 1 or not isinstance(root, Project):
        return None
    stored_as = {item.passes: item.name for item in root.projections if item.passes}
    if not columns_in_all(first.order) <= set(stored_as):
        return None
    return FirstRows(first.limit, tuple(_renamed(item, stored_as) for item in first.order))


def _renamed(item: exp.Expr, stored_as: Mapping[str, str]) -> exp.Expr:
    return item.copy().transform(
        lambda part: column(stored_as[part.name]) if isinstance(part, exp.Column) else part
    )
