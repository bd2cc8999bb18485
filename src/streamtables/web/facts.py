"""What the API says, kept until something happens: many readers cost as much as one.

A value is asked for again when the catalog's mark moved or the value grew old, by one reader at a
time; the others get what is there.  What took long is asked for rarely, so that reading pages never
takes more than a share of the machine from refreshes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TypeVar, cast

from streamtables.answers import Graph, RefreshCount, TableLag, TableStatus
from streamtables.api import StreamTables

T = TypeVar("T")

MARK_SECONDS = 0.2
"""For how long one look at the catalog serves all readers."""
_SLOW_SECONDS = 0.25
_REST = 4.0
"""A slow answer is kept for so many times what it took, whatever happens meanwhile."""
_KEPT = 500


@dataclass
class _Kept:
    value: object
    mark: str
    at: float
    took: float


@dataclass
class Facts:
    """Answers of one open warehouse."""

    db: StreamTables
    clock: Callable[[], float] = monotonic
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _locks: dict[str, Lock] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def mark(self) -> str:
        """Return what changes when something happens."""
        return self._get("mark", lambda _: self.db.activity_mark(), "", MARK_SECONDS)

    def get(self, name: str, ask: Callable[[StreamTables], T], oldest: float = 2.0) -> T:
        """Return an answer that is no older than the last happening, and than `oldest` seconds."""
        return self._get(name, ask, self.mark(), oldest)

    def forget(self) -> None:
        """Ask for everything anew: something was changed from here."""
        with self._lock:
            self._kept.clear()

    def _get(self, name: str, ask: Callable[[StreamTables], T], mark: str, oldest: float) -> T:
        with self._lock:
            alone = self._locks.setdefault(name, Lock())
        with alone:
            kept = self._kept.get(name)
            if kept is None or not self._is_good(kept, mark, oldest):
                began = self.clock()
                value = ask(self.db)
                now = self.clock()
                kept = _Kept(value, mark, now, now - began)
                self._keep(name, kept)
            return cast("T", kept.value)

    def _is_good(self, kept: _Kept, mark: str, oldest: float) -> bool:
        age = self.clock() - kept.at
        if kept.took > _SLOW_SECONDS and age < _REST * kept.took:
            return True
        return kept.mark == mark and age < oldest

    def _keep(self, name: str, kept: _Kept) -> None:
        with self._lock:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[name] = kept

    # The answers that several pages share

    def status(self) -> list[TableStatus]:
        """Return `db.status()`."""
        return self.get("status", lambda db: db.status())

    def lags(self) -> list[TableLag]:
        """Return `db.lags()`."""
        return self.get("lags", lambda db: db.lags())

    def graph(self) -> Graph:
        """Return `db.graph()`."""
        return self.get("graph", lambda db: db.graph(), 60.0)

    def per_minute(self) -> list[RefreshCount]:
        """Return `db.refreshes_per_minute()` of the last hour."""
        return self.get("refreshes 60", lambda db: db.refreshes_per_minute(60), 5.0)
