"""The current time: a relation of one row, and one moment for a whole refresh.

    Δclock = {+ the moment of this refresh, − that of the last one}

So rows that enter or leave a result because time moved are changes like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    When,
    delta_rule,
    kind_of,
    may_change,
    node_at,
)
from streamtables.compiler.algebra.scan import Version
from streamtables.compiler.algebra.signed import Negate, Sum
from streamtables.compiler.types import TIMESTAMP

CLOCK_TABLE = "__st_clock"
CLOCK_COLUMN = "now"


@dataclass(frozen=True, eq=False)
class Clock(Node):
    """One row with the moment that a refresh stands for."""

    name: str
    version: Version = "now"
    # Whether no time has passed since the last refresh.
    still: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.name, TIMESTAMP),)

    @property
    def key(self) -> tuple[str, ...]:
        return ()

    def with_inputs(self, *inputs: Node) -> Node:
        return self


@delta_rule.register
def delta_clock(clock: Clock) -> Node:
    """Return the new moment minus the old one."""
    return Sum((clock_at(clock, "after"), Negate(clock_at(clock, "before"))))


@node_at.register
def clock_at(clock: Clock, when: When) -> Node:
    """Return the moment of one refresh."""
    return replace(clock, version=when)


@may_change.register
def _(clock: Clock) -> bool:
    return not clock.still


@kind_of.register
def _(clock: Clock) -> Kind:
    return "linear"
