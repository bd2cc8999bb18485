"""What is done while nothing is due: old records go, and tables are tidied up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.upkeep import Kept
from streamtables.scheduler.book import Book
from streamtables.scheduler.holds import is_paused

EVERY = timedelta(minutes=10)

TIDIED = "tidied"
NOT_TIDIED = "not-tidied"

_REST = 9.0
"""How many times as long as a table took nothing is tidied up after it: a tenth of the time."""


@dataclass
class Housekeeping:
    """Tidies up now and then, in ticks that have nothing else to do."""

    around: Surroundings
    next_at: datetime | None = None
    rest_until: datetime | None = None
    _turn: list[StreamTable | Source] = field(default_factory=list)
    """The tables that are looked at next, the last one first."""

    def waits_for_long(self, now: datetime) -> bool:
        """Whether no tick was idle for so long that this has to be done beside the work."""
        return self.next_at is not None and now >= self.next_at + EVERY

    def tidy(self, book: Book, now: datetime) -> list[Event]:
        """Tidy up what it is time for, at most one table; return what is worth telling."""
        self._records(book, now)
        if self.rest_until is not None and now < self.rest_until:
            return []
        table = self._next(book)
        if table is None:
            return []
        began = perf_counter()
        done = list(self.around.upkeep.keep(table, book.definitions, book.standings, now))
        self.rest_until = now + timedelta(seconds=_REST * (perf_counter() - began))
        return [_event(table, item, now) for item in done]

    def _records(self, book: Book, now: datetime) -> None:
        """Drop old records if it is time; the first time comes a while after the start."""
        if self.next_at is None or now < self.next_at:
            self.next_at = self.next_at or now + EVERY
            return
        self.next_at = now + EVERY
        self.around.catalog.prune_history(self.around.settings.history_keep)
        self.around.catalog.prune_epochs()
        if book.dag.needs_repack:
            book.dag = book.dag.repacked()
        self._turn = [*book.own_tables]

    def _next(self, book: Book) -> StreamTable | Source | None:
        """Return a table that has had many commits since it was last looked at."""
        while self._turn:
            table = self._turn.pop()
            if isinstance(table, StreamTable) and is_paused(table, book.rules):
                continue
            version = book.version_of(table.id)
            if version is not None and self.around.upkeep.wants(table.id, version):
                return table
        return None


def _event(table: StreamTable | Source, done: Kept, now: datetime) -> Event:
    kind = TIDIED if done.error is None else NOT_TIDIED
    return Event(now, kind, f"{done.job}: {done.text}", table.id, table.name)
