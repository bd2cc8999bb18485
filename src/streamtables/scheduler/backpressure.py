"""Sources that grow faster than they are read: who is told, and who makes room.

A source is under pressure once its pending rows were past the threshold for some cycles in a row,
and until they are below half of it; between the two nothing changes, so that it does not flicker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pressure:
    """How one source stands after a cycle."""

    over: int = 0
    """For how many cycles in a row its pending rows were past the threshold."""
    high: bool = False
    """Whether it is under pressure."""
    alert: bool = False
    """Whether it came under pressure in this cycle."""
    cleared: bool = False
    """Whether it came out of it in this cycle."""


def judge(previous: Pressure, pending: int, threshold: int, cycles: int) -> Pressure:
    """Return how a source stands with so many pending rows; a threshold of 0 judges none."""
    over = previous.over + 1 if 0 < threshold < pending else 0
    if previous.high:
        relieved = threshold <= 0 or pending < threshold / 2
        return Pressure(over, high=not relieved, cleared=relieved)
    alert = over >= max(cycles, 1)
    return Pressure(over, high=alert, alert=alert)


def yields(tier: str, pressures: Iterable[Pressure]) -> bool:
    """Whether a table of this tier waits so that hot ones catch up with their sources."""
    return tier != "hot" and any(pressure.high for pressure in pressures)
