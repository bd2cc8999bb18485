"""Window functions: each row with values computed over the rows of its partition.

Δ follows from the keyed rule on the PARTITION BY columns.  The trap: ties.  A function that
depends on the order of equal rows gets tie-breakers, so that its answer follows from the rows
alone; rank, dense_rank and RANGE frames must not, since for them equal rows share an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Column
from streamtables.compiler.types import SqlType


@dataclass(frozen=True)
class WindowCall:
    """One window function over columns of the input: its call, its order and its frame."""

    name: str
    function: exp.Expr
    order: tuple[exp.Expr, ...]
    frame: exp.WindowSpec | None
    type: SqlType


@dataclass(frozen=True, eq=False)
class Window(Keyed):
    """The rows of the input with one more column for each call."""

    whole_because: ClassVar[str] = (
        "without PARTITION BY, all rows are one partition, and one row may change what every other "
        "shows"
    )

    partition: tuple[str, ...]
    calls: tuple[WindowCall, ...]

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.partition

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + tuple(Column(call.name, call.type) for call in self.calls)
