"""How much of a refresh's time was its own, where several ran at once.

Refreshes that share the cores of a machine take longer than each would alone.  Predictions compare
ways of a table that were measured in different company, or were never measured, so they count
the seconds that a refresh would have taken alone.  Otherwise a busy round makes the way that it
took look slow, and every table flees to one that is slower still.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter

_CORES_EACH = 2
"""About as many one refresh keeps busy: planning, running and collecting garbage at once."""


@dataclass
class Stay:
    """One refresh among others."""

    company: Company
    began: float
    alone: float
    """What the clock of the company showed at its begin."""

    @property
    def own_share(self) -> float:
        """The share of its time so far that it would have taken alone; above 0, at most 1."""
        now, alone = self.company.moment()
        passed = now - self.began
        return min(1.0, (alone - self.alone) / passed) if passed > 0 else 1.0


@dataclass
class Company:
    """The refreshes that run in this process; its clock goes slower the more they are."""

    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    timer: Callable[[], float] = perf_counter
    _running: int = 0
    _at: float = 0.0
    _alone: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def joined(self) -> Iterator[Stay]:
        """Count one more refresh while it runs."""
        now, alone = self._change(1)
        try:
            yield Stay(self, now, alone)
        finally:
            self._change(-1)

    def moment(self) -> tuple[float, float]:
        """Return the time, and what the slower clock shows."""
        return self._change(0)

    def _change(self, by: int) -> tuple[float, float]:
        with self._lock:
            now = self.timer()
            wanted = _CORES_EACH * max(1, self._running)
            self._alone += (now - self._at) * min(1.0, max(self.cores, _CORES_EACH) / wanted)
            self._at = now
            self._running += by
            return now, self._alone
