"""The fuse of a table, asked before it is refreshed by itself: is this change too large?"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.catalog.models import StreamTable
from streamtables.positions import Standing
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.fuse import FuseRule, blown
from streamtables.scheduler.holds import Hold
from streamtables.sources.changes import SharedChanges, Window

RELEASED = "resumed: the change that blew its fuse is let through"
"""The reason of a table whose fuse blew and whose change a person has looked at."""
BLOWN = "its fuse has blown: "
_REMEMBERED = 20


@dataclass(frozen=True)
class Fuses:
    """Judges the volume that waits for a table."""

    around: Surroundings

    def hold(self, book: Book, entry: Entry) -> Hold | None:
        """Suspend a table for whom too much waits, and say why; None where all is as usual."""
        options, table = entry.options, entry.table
        rule = FuseRule(options.fuse_rows, options.fuse_factor)
        standing = book.standings.get(table.id)
        if rule == FuseRule(None, None) or standing is None or table.state_reason == RELEASED:
            return None
        pending = self._pending(book, table, standing)
        recent = [r.rows_in for r in self.around.catalog.history(table.id, _REMEMBERED)]
        reason = blown(rule, pending, recent)
        if reason is None:
            return None
        text = f"{BLOWN}{reason}; look at the changes, then resume it"
        self.around.catalog.set_state(table.id, "suspended", text, at=self.around.clock())
        return Hold("fuse", text)

    def _pending(self, book: Book, table: StreamTable, standing: Standing) -> int:
        """Return how many changed rows of sources wait for a table."""
        changes = SharedChanges(self.around.settings.driver_rows_max, {})
        total = 0
        for item in table.inputs:
            since, upto = standing.frontier.get(item.id), book.positions.get(item.id)
            if item.kind == "source" and since is not None and upto is not None and since < upto:
                location = book.definitions.sources[item.id].location
                window = Window(item.id, location, since, upto)
                total += changes.count(self.around.sessions, window, item.columns)
        return total
