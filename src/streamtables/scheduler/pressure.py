"""Sources whose pending changes pile up: noticed, told, and made room for.

Counting what is pending reads the log entries in between, so only sources that some table has been
behind for several ticks in a row are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId
from streamtables.scheduler.backpressure import Pressure, judge, yields
from streamtables.scheduler.book import Book
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.holds import Hold
from streamtables.settings import Settings
from streamtables.sources.changes import SharedChanges, Window

ALERT = "change_buffer_backpressure"


@dataclass
class PressureGauge:
    """Follows the pending changes of every source from tick to tick."""

    settings: Settings
    pressures: dict[InputId, Pressure] = field(default_factory=dict)
    pending: dict[InputId, int] = field(default_factory=dict)
    """The rows that wait, of the sources that were counted."""
    growth: dict[InputId, int] = field(default_factory=dict)
    """By how many rows that is more than a tick ago."""
    _behind: dict[InputId, int] = field(default_factory=dict)

    def look(self, book: Book, now: datetime) -> list[Event]:
        """Judge every source once per tick; return what people should know."""
        if self.settings.buffer_alert_threshold == 0:
            return []
        late = _late_sources(book)
        self._behind = {key: self._behind.get(key, 0) + 1 for key in late}
        before, self.pending = self.pending, {}
        happened: list[Event] = []
        for key in {*late, *self.pressures}:
            happened += self._judged(book, key, now)
        counted = {*before, *self.pending}
        self.growth = {key: self.pending.get(key, 0) - before.get(key, 0) for key in counted}
        return happened

    def hold(self, entry: Entry) -> Hold | None:
        """Return why a table waits so that hotter ones catch up, or None."""
        high = [key for key in entry.roots if self._is_high(key)]
        if not high or not yields(entry.table.tier, [self.pressures[key] for key in high]):
            return None
        text = f"changes of a source pile up, and tables of the tier {entry.table.tier} make room"
        return Hold("yield", text)

    def _is_high(self, key: InputId) -> bool:
        return key in self.pressures and self.pressures[key].high

    def _judged(self, book: Book, key: InputId, now: datetime) -> list[Event]:
        threshold, cycles = (
            self.settings.buffer_alert_threshold,
            self.settings.buffer_alert_cycles,
        )
        rows = self._pending_rows(book, key)
        pressure = judge(self.pressures.get(key, Pressure()), rows, threshold, cycles)
        if pressure.over or pressure.high:
            self.pressures[key] = pressure
        else:
            self.pressures.pop(key, None)
        source = book.definitions.sources.get(key)
        name = source.name if source else key
        if pressure.alert:
            text = f"{rows:,} changed rows wait, past {threshold:,} for {cycles} ticks in a row"
            return [Event(now, ALERT, text, key, name)]
        if pressure.cleared:
            return [Event(now, f"{ALERT}_cleared", f"{rows:,} changed rows wait", key, name)]
        return []

    def _pending_rows(self, book: Book, key: InputId) -> int:
        """Return how many rows the commits say they changed past the slowest table."""
        source, upto = book.definitions.sources.get(key), book.positions.get(key)
        if source is None or upto is None or self._behind.get(key, 0) < 2:
            return 0
        reached = [
            book.standings[name].base_frontier[key]
            for name in book.dag.affected([key])
            if name in book.standings
            and key in book.standings[name].base_frontier
            and book.entries[name].runs_by_itself
        ]
        since = min(reached, default=upto)
        if since >= upto:
            return 0
        try:
            rows = SharedChanges(0, {}).estimate([Window(key, source.location, since, upto)])
        except StreamTablesError:
            # The refresh that needs the source meets it too, and says so: history that is gone is
            # a rebuild, for which nothing piles up; a log that cannot be read fails its readers.
            return 0
        self.pending[key] = rows or 0
        return rows or 0


def _late_sources(book: Book) -> set[InputId]:
    """Return the sources that some table which runs by itself has not caught up with."""
    late: set[InputId] = set()
    for entry in (book.entries[key] for key in book.behind):
        if entry.runs_by_itself:
            late |= entry.roots
    return late
