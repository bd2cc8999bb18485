"""Sources whose pending changes pile up: noticed, told, and made room for.

Told is what waits for the slowest table.  Made room is for hot tables alone, by what waits for
them: were it judged by what waits for the others, those that make room would keep it up themselves.

Counting what is pending reads the log entries in between, so only sources that some table has been
behind for several ticks in a row are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from streamtables.catalog.models import Source
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Version
from streamtables.scheduler.backpressure import Pressure, judge, yields
from streamtables.scheduler.book import Book
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.holds import Hold
from streamtables.settings import Settings
from streamtables.sources.pending import PendingRows

ALERT = "change_buffer_backpressure"
LONGEST_YIELD = timedelta(minutes=10)
"""For how long a table makes room at most; then it runs once, whatever waits."""


@dataclass
class PressureGauge:
    """Follows the pending changes of every source from tick to tick."""

    settings: Settings
    pressures: dict[InputId, Pressure] = field(default_factory=dict)
    pending: dict[InputId, int] = field(default_factory=dict)
    """The rows that wait, of the sources that were counted."""
    growth: dict[InputId, int] = field(default_factory=dict)
    """By how many rows that is more than a tick ago."""
    _of_hot: dict[InputId, Pressure] = field(default_factory=dict)
    """How each source stands by what waits for hot tables."""
    _behind: dict[InputId, int] = field(default_factory=dict)
    _counted: dict[InputId, PendingRows] = field(default_factory=dict)
    _yield_since: dict[InputId, datetime] = field(default_factory=dict)

    def look(self, book: Book, now: datetime) -> list[Event]:
        """Judge every source once per tick; return what people should know."""
        if self.settings.buffer_alert_threshold == 0:
            return []
        late = _late_sources(book)
        self._behind = {key: self._behind.get(key, 0) + 1 for key in late}
        self._counted = {key: self._counted[key] for key in late & self._counted.keys()}
        before, self.pending = self.pending, {}
        happened: list[Event] = []
        for key in {*late, *self.pressures, *self._of_hot}:
            happened += self._judged(book, key, now)
        counted = {*before, *self.pending}
        self.growth = {key: self.pending.get(key, 0) - before.get(key, 0) for key in counted}
        return happened

    def hold(self, entry: Entry, now: datetime) -> Hold | None:
        """Return why a table waits so that hotter ones catch up, or None."""
        key, tier = entry.table.id, entry.table.tier
        if not yields(tier, [self._of_hot[root] for root in entry.roots & self._of_hot.keys()]):
            self._yield_since.pop(key, None)
            return None
        if now - self._yield_since.setdefault(key, now) >= LONGEST_YIELD:
            del self._yield_since[key]
            return None
        text = f"changes of a source pile up, and tables of the tier {tier} make room"
        return Hold("yield", text)

    def _judged(self, book: Book, key: InputId, now: datetime) -> list[Event]:
        threshold, cycles = (
            self.settings.buffer_alert_threshold,
            self.settings.buffer_alert_cycles,
        )
        rows, of_hot = self._pending_rows(book, key)
        pressure = judge(self.pressures.get(key, Pressure()), rows, threshold, cycles)
        _keep(self.pressures, key, pressure)
        _keep(
            self._of_hot,
            key,
            judge(self._of_hot.get(key, Pressure()), of_hot, threshold, cycles),
        )
        source = book.definitions.sources.get(key)
        name = source.name if source else key
        if pressure.alert:
            text = f"{rows:,} changed rows wait, past {threshold:,} for {cycles} ticks in a row"
            return [Event(now, ALERT, text, key, name)]
        if pressure.cleared:
            return [Event(now, f"{ALERT}_cleared", f"{rows:,} changed rows wait", key, name)]
        return []

    def _pending_rows(self, book: Book, key: InputId) -> tuple[int, int]:
        """Return how many rows wait for the slowest table, and for the slowest hot one."""
        source, upto = book.definitions.sources.get(key), book.positions.get(key)
        if source is None or upto is None or key in book.broken or self._behind.get(key, 0) < 2:
            return 0, 0
        reached = _reached(book, key)
        slowest = min(reached.values(), default=upto)
        hot = (at for name, at in reached.items() if book.entries[name].table.tier == "hot")
        slowest_hot = min(hot, default=upto)
        if slowest >= upto:
            return 0, 0
        counted = self._counting(source)
        try:
            rows = counted.between(slowest, upto)
            of_hot = counted.between(slowest_hot, upto) if slowest_hot < upto else 0
        except StreamTablesError:
            # The refresh that needs the source meets it too, and says so: history that is gone is
            # a rebuild, for which nothing piles up; a log that cannot be read fails its readers.
            return 0, 0
        counted.forget_before(slowest)
        self.pending[key] = rows
        return rows, of_hot

    def _counting(self, source: Source) -> PendingRows:
        known = self._counted.get(source.id)
        if known is None or known.location != source.location:
            known = self._counted[source.id] = PendingRows(source.location)
        return known


def _keep(pressures: dict[InputId, Pressure], key: InputId, pressure: Pressure) -> None:
    if pressure.over or pressure.high:
        pressures[key] = pressure
    else:
        pressures.pop(key, None)


def _reached(book: Book, source: InputId) -> dict[InputId, Version]:
    """Return how far each table that runs by itself has followed a source."""
    return {
        name: book.standings[name].base_frontier[source]
        for name in book.dag.affected([source])
        if name in book.standings
        and source in book.standings[name].base_frontier
        and book.entries[name].runs_by_itself
    }


def _late_sources(book: Book) -> set[InputId]:
    """Return the sources that some table which runs by itself has not caught up with."""
    late: set[InputId] = set()
    for entry in (book.entries[key] for key in book.behind):
        if entry.runs_by_itself:
            late |= entry.roots
    return late
