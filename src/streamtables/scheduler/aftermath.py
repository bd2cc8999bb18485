"""What follows from the refreshes of a round: back-off, a stop, a suspension, an alert."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError, TableDamagedError
from streamtables.positions import InputId
from streamtables.refresh.one import FUSE
from streamtables.refresh.recording import CANCELLED
from streamtables.refresh.results import Refresh
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.failures import Failures, Retry, after_failure, is_expected
from streamtables.scheduler.holds import Hold

DEFERRED_SECONDS = 5.0
"""After how long a table that could not move to a round's pins is tried again."""


@dataclass(frozen=True)
class Aftermath:
    """Settles what became of the tables of one round."""

    around: Surroundings
    book: Book
    started: datetime

    def settle(self, results: Mapping[str, Refresh], tables: Iterable[InputId]) -> list[Event]:
        """Note failures and freshness of each table; return what people should know.

        A table that did not move stays due, so that it is tried again when its wait is over.
        """
        now = self.around.clock()
        happened: list[Event] = []
        for key in tables:
            entry = self.book.entries[key]
            result = results.get(entry.table.name)
            if result is None:
                continue
            if result.outcome == "failed" and result.error is not None:
                happened.append(self._failed(entry, result.error, now))
            elif result.reason.code == CANCELLED:
                self.book.let_be(key, self.started, now)
                happened += self._stopped(entry, result, now)
            elif result.reason.code == FUSE:
                # It was suspended: what releases it is told as of any table that was held.
                entry.hold = Hold("suspended", result.reason.text)
                table = entry.table
                happened.append(Event(now, "suspended", result.reason.text, table.id, table.name))
            elif result.outcome == "deferred":
                entry.not_before = now + timedelta(seconds=DEFERRED_SECONDS)
                happened += self._deferred(entry, result, now)
            else:
                entry.last_started = self.started
                happened += self._went_well(entry, result, now)
        return happened

    def _stopped(self, entry: Entry, result: Refresh, now: datetime) -> list[Event]:
        """Tell who stopped a table; one that reads it is told as any that waits."""
        if result.outcome == "deferred":
            return self._deferred(entry, result, now)
        return [Event(now, "cancelled", result.reason.text, entry.table.id, entry.table.name)]

    def _deferred(self, entry: Entry, result: Refresh, now: datetime) -> list[Event]:
        """Tell once that a table could not move, until it does."""
        if "deferred" in entry.said:
            return []
        entry.said.add("deferred")
        return [Event(now, "deferred", result.reason.text, entry.table.id, entry.table.name)]

    def _failed(self, entry: Entry, error: StreamTablesError, now: datetime) -> Event:
        entry.failures += 1
        entry.unexpected += not is_expected(error)
        table = entry.table
        failures = Failures(entry.failures, entry.unexpected)
        forbidden = table.full_policy == "forbid"
        decision = after_failure(error, failures, now, random.random(), full_forbidden=forbidden)
        if isinstance(decision, Retry):
            entry.not_before = decision.at
            return Event(now, "failed", decision.reason, table.id, table.name)
        if not isinstance(error, TableDamagedError):
            self.around.catalog.set_state(table.id, "suspended", decision.reason, at=now)
        return Event(now, "suspended", decision.reason, table.id, table.name)

    def _went_well(self, entry: Entry, result: Refresh, now: datetime) -> list[Event]:
        table = entry.table
        happened = []
        if entry.failures:
            refreshes = "refresh" if entry.failures == 1 else "refreshes"
            text = f"it works again after {entry.failures} failed {refreshes}"
            happened.append(Event(now, "recovered", text, table.id, table.name))
        entry.failures, entry.unexpected = 0, 0
        entry.not_before, entry.let_be = None, None
        entry.said -= {"deferred", "skipped"}
        if result.outcome == "applied":
            entry.typical_seconds = (
                0.7 * entry.typical_seconds + 0.3 * result.seconds
                if entry.typical_seconds
                else result.seconds
            )
        return happened
