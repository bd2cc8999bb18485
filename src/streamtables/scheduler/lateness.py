"""Tables that are promised to be fresh: said when one is late, may become so, or is well again.

They are judged in every tick, whether or not they run: what holds a table back makes it late too.
A round may take longer than a promise, so they are judged while it runs as well, and at its end by
the moment at which each table had moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Standing
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.freshness import Freshness, judge
from streamtables.scheduler.lags import LagReader

Standings = Callable[[], Mapping[InputId, Standing]]


@dataclass
class Promises:
    """Judges the tables of a book whose freshness somebody aims at or has promised."""

    around: Surroundings
    _running: tuple[Book, Standings] | None = None
    """The round that runs: its book, and who says where its tables stand now."""
    _lock: Lock = field(default_factory=Lock)

    def date_back(self, book: Book, now: datetime) -> None:
        """Count what was just seen to wait from when it came: nobody may have looked for long."""
        just_seen = [entry for entry in book.promised if entry.behind_since == now]
        reader = LagReader(CatalogSnapshot(book.definitions, book.standings), self.around, {})
        for entry in just_seen:
            standing = book.standings.get(entry.table.id)
            came_at = reader.waiting_since(entry.table, standing) if standing else None
            entry.behind_since = min(now, came_at or now)

    @contextmanager
    def while_it_runs(self, book: Book, standings: Standings) -> Iterator[None]:
        """Have `watch` judge beside a round."""
        self._running = book, standings
        try:
            yield
        finally:
            with self._lock:
                self._running = None

    def watch(self) -> None:
        """Judge what the round that runs has not moved yet, and tell at once."""
        with self._lock:
            if self._running is None:
                return
            book, standings = self._running
            # A table that has moved lacks nothing that this round knows of.
            known = dict(standings())
            waiting = [e for e in book.promised if book.is_behind(e.table.id, known)]
            happened = judged(waiting, self.around.clock())
        # The catalog may be away for a while; what it is not told now the end of the round tells.
        with suppress(StreamTablesError):
            self.around.catalog.record_events(happened)

    def at_the_end(self, book: Book, moved: Iterable[InputId]) -> list[Event]:
        """Judge tables that a round has moved, by how late that was; the book knows it already."""
        done, ended = frozenset(moved), self.around.observer.ended_at
        found = (
            judged_at(entry, ended[key])
            for entry in book.promised
            if (key := entry.table.id) in done and key in ended and not book.is_behind(key)
        )
        return [event for event in found if event is not None]


def judged(promised: Iterable[Entry], now: datetime) -> list[Event]:
    """Judge the freshness of some tables; return where it is another than before."""
    return [event for entry in promised if (event := judged_at(entry, now)) is not None]


def judged_at(entry: Entry, now: datetime) -> Event | None:
    """Judge the freshness of a table at some moment; None where it is as it was."""
    wanted = Freshness(entry.options.target_lag, entry.options.sla)
    behind = (now - entry.behind_since).total_seconds() if entry.behind_since else 0.0
    last, entry.freshness = entry.freshness, judge(wanted, behind, entry.typical_seconds)
    if entry.freshness == last:
        return None
    texts = {
        "ok": "it is as fresh as wanted again",
        "at-risk": f"its oldest change waits for {behind:.0f} s: it may come too late",
        "late": f"its oldest change waits for {behind:.0f} s, longer than promised",
    }
    table = entry.table
    return Event(now, f"freshness-{entry.freshness}", texts[entry.freshness], table.id, table.name)
