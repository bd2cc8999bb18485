"""What is counted of the plan caches since a process opened its warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Literal

Level = Literal["l1", "l0", "l2"]
LEVELS: tuple[Level, ...] = ("l1", "l0", "l2")
"""In the order in which they are asked: this process, this machine, the catalog."""


@dataclass
class LevelCounts:
    """The counts of one level, and why it last failed."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    faults: int = 0
    last_fault: str = ""


class Counts:
    """Counts of all levels and of the compiler; safe between threads."""

    def __init__(self) -> None:
        self._levels = {level: LevelCounts() for level in LEVELS}
        self._lock = Lock()
        self.parse_count = 0
        self.differentiate_count = 0

    def looked(self, level: Level, *, found: bool) -> None:
        """Count a look at a level."""
        with self._lock:
            counts = self._levels[level]
            counts.hits += found
            counts.misses += not found

    def evicted(self, level: Level, count: int) -> None:
        """Count what a level let go for want of room."""
        with self._lock:
            self._levels[level].evictions += count

    def fault(self, level: Level, reason: str) -> None:
        """Note why a level could not answer; the plan is then found or made elsewhere."""
        with self._lock:
            self._levels[level].faults += 1
            self._levels[level].last_fault = reason

    def parsed(self) -> None:
        """Count a query that was compiled from its text."""
        with self._lock:
            self.parse_count += 1

    def differentiated(self) -> None:
        """Count a delta program that was made from a plan."""
        with self._lock:
            self.differentiate_count += 1

    def of(self, level: Level) -> LevelCounts:
        """Return the counts of one level."""
        return self._levels[level]

    def summary(self) -> Mapping[str, object]:
        """Return everything as plain values."""
        with self._lock:
            return {
                "parse_count": self.parse_count,
                "differentiate_count": self.differentiate_count,
                **{level: asdict(counts) for level, counts in self._levels.items()},
            }
