"""Lags over the last hour, sampled while pages are served; nobody else keeps them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from streamtables.answers import TableLag

EVERY_SECONDS = 5.0
KEPT = 720


@dataclass(frozen=True)
class LagSample:
    """The worst lag of all tables, or that of one, at one moment."""

    at: datetime
    lag_seconds: float
    behind: int
    """How many tables were behind."""


@dataclass
class LagSamples:
    """A ring of samples; tables without lag take no room in it."""

    _kept: deque[tuple[datetime, dict[str, float]]] = field(
        default_factory=lambda: deque(maxlen=KEPT)
    )
    _lock: Lock = field(default_factory=Lock)

    def add(self, lags: list[TableLag], at: datetime | None = None) -> None:
        """Keep what is known now."""
        behind = {lag.name: lag.lag_seconds for lag in lags if lag.lag_seconds}
        with self._lock:
            self._kept.append((at or datetime.now(UTC), behind))

    def of(self, name: str | None = None) -> list[LagSample]:
        """Return the samples of one table, or the worst of all, oldest first."""
        with self._lock:
            kept = list(self._kept)
        if name is None:
            return [LagSample(at, max(lags.values(), default=0.0), len(lags)) for at, lags in kept]
        return [LagSample(at, lags.get(name, 0.0), int(name in lags)) for at, lags in kept]
