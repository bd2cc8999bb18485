"""What is done while nothing is due: old records go, and the graph is packed anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book

EVERY = timedelta(minutes=10)


@dataclass
class Housekeeping:
    """Tidies up now and then, in ticks that have nothing else to do."""

    around: Surroundings
    next_at: datetime | None = None

    def idle(self, book: Book, now: datetime) -> None:
        """Tidy up if it is time; the first time comes a while after the start."""
        if self.next_at is None or now < self.next_at:
            self.next_at = self.next_at or now + EVERY
            return
        self.next_at = now + EVERY
        self.around.catalog.prune_history(self.around.settings.history_keep)
        self.around.catalog.prune_epochs()
        if book.dag.needs_repack:
            book.dag = book.dag.repacked()
