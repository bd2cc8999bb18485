"""ORDER BY … LIMIT: the first rows of each partition, or of the whole relation.

Δ follows from the keyed rule on the partition columns.  The trap: ties at the limit.  The order
ends with tie-breakers, so which rows are shown follows from the rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Column


@dataclass(frozen=True, eq=False)
class TopK(Keyed):
    """The rows from `offset` on, at most `limit` of them, in an order that leaves no ties."""

    whole_because: ClassVar[str] = (
        "without a partition, any row may move up when one of the first goes, and none is kept in "
        "reserve"
    )

    partition: tuple[str, ...]
    order: tuple[exp.Expr, ...]
    limit: int | None
    offset: int = 0

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.partition

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns
