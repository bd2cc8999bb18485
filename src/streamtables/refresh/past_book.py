"""What past refreshes of each table tell, shared by all workers of a process.

A table's refreshes are read from the catalog once, and from then on kept here; a refresh that a
worker has just ended is known to all others, without a word to the catalog.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from streamtables.catalog.models import RefreshRecord
from streamtables.positions import InputId

REMEMBERED = 30
"""How many refreshes of a table count."""

BEGINNINGS = ("first-fill", "query-changed")
"""Reasons of refreshes before which nothing counts: the table was another one."""

Told = TypeVar("Told")
History = Callable[[], Sequence[RefreshRecord]]


@dataclass
class PastBook(Generic[Told]):
    """What `tell` reads from the records of each table; the one unused for longest goes first."""

    capacity: int
    tell: Callable[[RefreshRecord], Told | None]
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    _past: OrderedDict[InputId, deque[Told]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find(self, table: InputId) -> tuple[Told, ...] | None:
        """Return what is kept of a table, the newest first."""
        with self._lock:
            if (known := self._past.get(table)) is None:
                self.misses += 1
                return None
            self._past.move_to_end(table)
            self.hits += 1
            return tuple(known)

    def load(self, table: InputId, history: Sequence[RefreshRecord]) -> tuple[Told, ...]:
        """Keep what some records tell; whoever was quicker is believed."""
        found = deque(told(history, self.tell), maxlen=REMEMBERED)
        with self._lock:
            kept = self._past.setdefault(table, found)
            while len(self._past) > self.capacity:
                self._past.popitem(last=False)
                self.evictions += 1
            return tuple(kept)

    def past(self, table: InputId, history: History) -> tuple[Told, ...]:
        """Return what is known of a table; `history` reads its records where nothing is.

        The catalog is asked without the lock: two workers may both ask, and none waits.
        """
        known = self.find(table)
        return self.load(table, history()) if known is None else known

    def note(self, record: RefreshRecord) -> None:
        """Take in a refresh that ended."""
        new = self.tell(record)
        if new is None:
            return
        with self._lock:
            if (known := self._past.get(record.stream_table_id)) is not None:
                if record.reason_code in BEGINNINGS:
                    known.clear()
                known.appendleft(new)

    def counts(self) -> dict[str, int]:
        """Return how often a table's past was at hand, and how often it was forgotten."""
        with self._lock:
            tables = len(self._past)
        return {
            "tables": tables,
            "capacity": self.capacity,
            "hits": self.hits,
            "misses": self.misses,
            "evictions": self.evictions,
        }


def told(
    history: Sequence[RefreshRecord], tell: Callable[[RefreshRecord], Told | None]
) -> list[Told]:
    """Return what records tell, the newest first; nothing from before the query was altered."""
    found = []
    for record in history:
        if (item := tell(record)) is not None:
            found.append(item)
        if record.state == "applied" and record.reason_code in BEGINNINGS:
            break
    return found
