"""Looking after all publications: who lags, who has expired, who is pushed to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.publication_models import Publication, Subscriber
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.observe import declared as metric
from streamtables.publish.delivery import Delivery, Pushed, needs_push
from streamtables.publish.reading import Published, published
from streamtables.publish.windows import lag_of, next_state
from streamtables.refresh.surroundings import Surroundings

LAG, LAG_CLEARED, EXPIRED = "publication_lag", "publication_lag_cleared", "publication_expired"


@dataclass
class Attendance:
    """Does for all publications what it is time for."""

    around: Surroundings
    delivery: Delivery = field(init=False)

    def __post_init__(self) -> None:
        self.delivery = Delivery(self.around)

    def attend(self) -> list[Pushed]:
        """Push to those who wait, then judge how far each subscriber is."""
        pushed = self.push(None, self.around.clock())
        self.judge()
        return pushed

    def push(self, name: str | None, now: datetime | None) -> list[Pushed]:
        """Push one publication or all; without a moment nobody has to wait for a retry."""
        done = []
        for found, subscriber in self._pairs(name):
            at = now or subscriber.retry_at or self.around.clock()
            if needs_push(found, subscriber, at):
                done.append(self.delivery.push(found, subscriber))
        return done

    def judge(self) -> None:
        """Warn of subscribers that are far behind, and let those expire whose policy says so."""
        now, catalog = self.around.clock(), self.around.catalog
        pairs = list(self._pairs(None))
        counts = self.around.observer.counts
        counts.keep("publication", {found.publication.name for found, _ in pairs})
        counts.keep("subscriber", {subscriber.name for _, subscriber in pairs})
        for found, subscriber in pairs:
            lag = lag_of(subscriber, found.sight.incarnation, found.current)
            counts.set(metric.PUBLICATION_LAG, found.publication.name, subscriber.name, to=lag)
            if subscriber.sink != "pull":
                # From 0 on, so that the first push or failure is an increase.
                for count in (metric.PUSHED_ROWS, metric.PUSH_FAILURES):
                    counts.add(count, found.publication.name, subscriber.sink, by=0)
            state = next_state(subscriber, lag, self.around.settings.publication_lag_warn, now)
            if state == subscriber.state:
                continue
            try:
                catalog.move_subscriber(subscriber, state=state)
            except StreamTablesError:
                # It acknowledged something meanwhile: the next look judges it anew.
                continue
            catalog.record_events([_event(found, subscriber, state, lag, now)])

    def _pairs(self, name: str | None) -> Iterator[tuple[Published, Subscriber]]:
        """Give the subscribers of all publications whose table can be read now."""
        catalog = self.around.catalog
        chosen = catalog.publications() if name is None else [catalog.publication(name)]
        if not chosen:
            return
        snapshot = catalog.snapshot()
        for publication in chosen:
            # Whoever asks for one publication is told why it cannot be read.
            found = (
                published(publication, snapshot, self.around)
                if name is not None
                else self._found(publication, snapshot)
            )
            if found is not None:
                for subscriber in catalog.subscribers(publication.id):
                    yield found, subscriber

    def _found(self, publication: Publication, snapshot: CatalogSnapshot) -> Published | None:
        try:
            return published(publication, snapshot, self.around)
        except StreamTablesError:
            # Gone, not filled or damaged: `publications` and the table itself say so.
            return None


def _event(found: Published, subscriber: Subscriber, state: str, lag: int, now: datetime) -> Event:
    kind = {"lagging": LAG, "expired": EXPIRED}.get(state, LAG_CLEARED)
    who = f'subscriber "{subscriber.name}" of publication "{found.publication.name}"'
    text = {
        LAG: f"{who} is {lag:,} versions behind; their files are kept for it",
        EXPIRED: f"{who} was silent for longer than its expire_after; nothing is kept for it",
        LAG_CLEARED: f"{who} is {lag:,} versions behind, which is no longer too far",
    }[kind]
    return Event(now, kind, text, found.table.id, found.table.name)
