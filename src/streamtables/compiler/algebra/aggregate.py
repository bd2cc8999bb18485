"""Grouped and global aggregates.

Δγ follows from the keyed rule on the group columns.  The trap: a *global* aggregate keeps its one
row when the input empties (COUNT 0, the others NULL), while a group goes with its last row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Column
from streamtables.compiler.types import SqlType


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate: its output column, the function over input columns, and its FILTER."""

    name: str
    function: str
    arguments: tuple[exp.Expr, ...]
    argument_types: tuple[SqlType, ...]
    condition: exp.Expr | None
    type: SqlType
    distinct: bool = False
    order: tuple[exp.Expr, ...] = ()
    """What decides where the order of the rows does: WITHIN GROUP, or the rows' key."""
    sorted_sum: bool = False
    """Whether floats are added in a fixed order, so that the answer depends on the rows alone."""
    approximate: bool = False
    """Whether a sum of floats may be kept by adding to it, within a bound."""
    own: bool = False
    """Whether a process brings the function along; nothing is known of it but its type."""

    @property
    def over_star(self) -> bool:
        """Whether this counts rows, NULLs included."""
        return len(self.arguments) == 1 and isinstance(self.arguments[0], exp.Star)


@dataclass(frozen=True, eq=False)
class Aggregate(Keyed):
    """One row per distinct value of the group columns; exactly one when there are none."""

    whole_because: ClassVar[str] = (
        "without groups, all rows are one group, whose old value is not stored below another "
        "operator, nor where one of its calls has no stored state"
    )

    group: tuple[str, ...]
    calls: tuple[AggregateCall, ...]

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.group

    @property
    def columns(self) -> tuple[Column, ...]:
        grouped = tuple(Column(name, self.input.type_of(name)) for name in self.group)
        return grouped + tuple(Column(call.name, call.type) for call in self.calls)
