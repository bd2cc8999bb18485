"""Bringing one subscriber that is pushed to up to the table as it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.catalog.publication_models import Subscriber
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.observe import declared as metric
from streamtables.positions import Version
from streamtables.publish.reading import Published, changes_of, window_of
from streamtables.publish.sinks import Sink, sink_of
from streamtables.publish.windows import reset_reason
from streamtables.refresh.surroundings import Surroundings

PUSH_FAILED, PUSH_RECOVERED = "push-failed", "push-recovered"
WINDOW_ROWS = 10_000
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(hours=1)

SinkMaker = Callable[[Published, Subscriber], Sink]


@dataclass(frozen=True)
class Pushed:
    """What became of one push."""

    publication: str
    subscriber: str
    version: int | None
    rows: int
    windows: int
    error: StreamTablesError | None = None


def default_sink(found: Published, subscriber: Subscriber) -> Sink:
    """Return the sink that a subscriber names."""
    return sink_of(found.publication, subscriber)


@dataclass(frozen=True)
class Delivery:
    """Pushes windows until a subscriber has all, and notes how far it got."""

    around: Surroundings
    sink: SinkMaker = default_sink

    def push(self, found: Published, subscriber: Subscriber) -> Pushed:
        """Push what a subscriber lacks; a failure is recorded and returned, never raised."""
        rows = windows = 0
        try:
            sink = self.sink(found, subscriber)
            subscriber = self._as_the_target_says(found, subscriber, sink)
            while True:
                window = window_of(found, subscriber, WINDOW_ROWS)
                if window.is_empty:
                    break
                if not window.reset and subscriber.offered != window.upto:
                    subscriber = self.around.catalog.move_subscriber(
                        subscriber, offered=window.upto
                    )
                changes = changes_of(found, window, self.around)
                rows += sink.deliver(changes)
                windows += 1
                subscriber = self._acknowledged(subscriber, window.incarnation, window.upto)
        except StreamTablesError as error:
            self._failed(found, subscriber, error)
            return self._result(found, subscriber, rows, windows, error)
        self._recovered(found, subscriber)
        return self._result(found, subscriber, rows, windows)

    def _as_the_target_says(
        self, found: Published, subscriber: Subscriber, sink: Sink
    ) -> Subscriber:
        """Take over a position that the target has and the catalog missed."""
        held = sink.position()
        if held is None:
            return subscriber
        incarnation, version = held
        if incarnation != found.sight.incarnation or version > found.current:
            return subscriber
        here = subscriber.version if subscriber.incarnation == incarnation else None
        if here == version and subscriber.state != "expired":
            return subscriber
        return self._acknowledged(subscriber, incarnation, Version(version))

    def _acknowledged(
        self, subscriber: Subscriber, incarnation: str, version: Version
    ) -> Subscriber:
        state = "active" if subscriber.state == "expired" else subscriber.state
        return self.around.catalog.move_subscriber(
            subscriber,
            incarnation=incarnation,
            version=version,
            offered=None,
            state=state,
            acknowledged_at=self.around.clock(),
        )

    def _failed(self, found: Published, subscriber: Subscriber, error: StreamTablesError) -> None:
        now, failures = self.around.clock(), subscriber.failures + 1
        said = f"{error.message} ({error.code})"
        self.around.observer.counts.add(
            metric.PUSH_FAILURES, found.publication.name, subscriber.sink
        )
        # Told once, and again when the reason is another one.
        if subscriber.note != said:
            self._tell(found, now, PUSH_FAILED, f'subscriber "{subscriber.name}": {said}')
        self._note(subscriber, failures=failures, note=said, retry_at=now + wait_after(failures))

    def _recovered(self, found: Published, subscriber: Subscriber) -> None:
        if subscriber.failures:
            text = f'subscriber "{subscriber.name}" takes changes again'
            self._tell(found, self.around.clock(), PUSH_RECOVERED, text)
            self._note(subscriber, failures=0, note="", retry_at=None)

    def _note(self, subscriber: Subscriber, **changes: object) -> None:
        try:
            self.around.catalog.move_subscriber(subscriber, **changes)
        except StreamTablesError:
            # It was acknowledged or dropped meanwhile: what is there now is newer.
            return

    def _tell(self, found: Published, now: datetime, kind: str, text: str) -> None:
        event = Event(now, kind, text, found.table.id, found.table.name)
        self.around.catalog.record_events([event])

    def _result(
        self,
        found: Published,
        subscriber: Subscriber,
        rows: int,
        windows: int,
        error: StreamTablesError | None = None,
    ) -> Pushed:
        name = found.publication.name
        if rows:
            self.around.observer.counts.add(metric.PUSHED_ROWS, name, subscriber.sink, by=rows)
        version = None if subscriber.version is None else int(subscriber.version)
        return Pushed(name, subscriber.name, version, rows, windows, error)


def wait_after(failures: int) -> timedelta:
    """Return how long a push waits after so many failures in a row."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 20))


def needs_push(found: Published, subscriber: Subscriber, now: datetime) -> bool:
    """Whether a subscriber is pushed to, lacks something, and is not to wait."""
    if subscriber.sink == "pull" or (subscriber.retry_at and now < subscriber.retry_at):
        return False
    reset = reset_reason(subscriber, found.sight.incarnation, found.current)
    return bool(reset) or subscriber.version != found.current
