"""Stopping a refresh that runs, because somebody asked for it, here or in another process.

The catalog is asked once per beat while something has run for that long, and never otherwise: a
process without long refreshes asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from threading import Event, Lock, Thread

from streamtables.catalog.cancellations import Cancellation
from streamtables.errors import RefreshCancelledError, StreamTablesError, TableDamagedError
from streamtables.positions import RefreshId

BEAT_SECONDS = 1.0
"""How often it is asked, and how often what is to stop is cancelled until it ends.

A job may begin just after the last was cancelled.
"""

Ask = Callable[[Collection[RefreshId]], Mapping[RefreshId, Cancellation]]


def by_whom(asked: Cancellation) -> str:
    """Return who asked, and when, for people."""
    return (
        f"cancelled by {asked.asked_by} at {asked.asked_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    )


@dataclass
class Running:
    """One refresh that runs, how to stop it, and who wants that."""

    name: str
    cancel: Callable[[], None]
    asked: Cancellation | None = None

    def check(self) -> None:
        """Go no further where somebody asked for it."""
        if self.asked is not None:
            raise self.error

    @property
    def error(self) -> RefreshCancelledError:
        """What ends a refresh that is to stop."""
        assert self.asked is not None
        return RefreshCancelledError(
            f'the refresh of "{self.name}" was {by_whom(self.asked)}',
            hint="It is refreshed again when it is due, or by hand.",
        )


@dataclass
class CancelWatch:
    """Looks whether refreshes of this process are to stop, while there are any."""

    ask: Ask
    seconds: float = BEAT_SECONDS
    _running: dict[RefreshId, Running] = field(default_factory=dict)
    _begun: Event = field(default_factory=Event)
    _thread: Thread | None = None
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def watching(
        self, refresh_id: RefreshId, name: str, cancel: Callable[[], None]
    ) -> Iterator[Running]:
        """Call `cancel` once somebody asks for it; what then fails, failed because of it."""
        running = Running(name, cancel)
        self._add(refresh_id, running)
        try:
            yield running
        except (RefreshCancelledError, TableDamagedError):
            raise
        except Exception as error:
            if running.asked is None:
                raise
            raise running.error from error
        finally:
            with self._lock:
                del self._running[refresh_id]

    def _add(self, refresh_id: RefreshId, running: Running) -> None:
        with self._lock:
            self._running[refresh_id] = running
            self._begun.set()
            if self._thread is None:
                self._thread = Thread(target=self._run, name="streamtables-cancel", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        known: set[RefreshId] = set()
        rest = Event()
        try:
            while not rest.wait(self.seconds) and (running := self._now()) is not None:
                # What began within this beat is mostly over before the next.
                self._look({key: one for key, one in running.items() if key in known})
                known = set(running)
        except BaseException:
            # The next refresh must find somebody who looks.
            self._thread = None
            raise

    def _now(self) -> dict[RefreshId, Running] | None:
        """Return what runs; None where a whole beat had nothing, and the thread ends."""
        with self._lock:
            if not self._running and not self._begun.is_set():
                self._thread = None
                return None
            self._begun.clear()
            return dict(self._running)

    def _look(self, running: Mapping[RefreshId, Running]) -> None:
        unasked = [key for key, one in running.items() if one.asked is None]
        found: Mapping[RefreshId, Cancellation] = {}
        # A catalog that is away is asked again; Spark that is away has nothing to cancel.
        if unasked:
            with suppress(StreamTablesError):
                found = self.ask(unasked)
        for key, one in running.items():
            one.asked = one.asked or found.get(key)
            if one.asked is not None:
                with suppress(StreamTablesError):
                    one.cancel()
