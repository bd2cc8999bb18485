"""How long changes took to arrive, over the last quarter of an hour."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

RECENT = timedelta(minutes=15)
KEPT = 10_000
"""How many arrivals of a source are remembered at most; more let the oldest go."""


@dataclass(frozen=True)
class Percentiles:
    """Seconds below which half, 19 in 20, 99 in 100 and all of some arrivals stayed."""

    p50: float
    p95: float
    p99: float
    max: float
    drains: int


def percentiles(lags: Sequence[float]) -> Percentiles | None:
    """Return the percentiles of some lags in any order; None of none."""
    ordered = sorted(lags)
    if not ordered:
        return None
    return Percentiles(
        _at(ordered, 0.5), _at(ordered, 0.95), _at(ordered, 0.99), ordered[-1], len(ordered)
    )


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass
class LagWindow:
    """The lags of each source, from the commit there to where the change was wanted."""

    _lags: dict[str, deque[tuple[datetime, float]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def note(self, at: datetime, lags: Mapping[str, float]) -> None:
        """Take in one arrival: for how long the oldest change of each source had waited."""
        with self._lock:
            for source, seconds in lags.items():
                self._lags.setdefault(source, deque(maxlen=KEPT)).append((at, seconds))

    def begin_with(self, drains: Sequence[tuple[datetime, Mapping[str, float]]]) -> None:
        """Know these drains and no others, the oldest first."""
        with self._lock:
            self._lags.clear()
        for at, lags in drains:
            self.note(at, lags)

    def recent(self, now: datetime) -> Mapping[str, Percentiles]:
        """Return the percentiles of each source that had a change lately."""
        with self._lock:
            for waited in self._lags.values():
                while waited and waited[0][0] < now - RECENT:
                    waited.popleft()
            found = {source: [lag for _, lag in waited] for source, waited in self._lags.items()}
        judged = {source: percentiles(lags) for source, lags in found.items()}
        return {source: some for source, some in judged.items() if some is not None}
