"""Waiting until refreshes have ended that somebody wants to end, whichever process runs them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic

from streamtables.positions import InputId, RefreshId
from streamtables.refresh.recover import recover
from streamtables.refresh.surroundings import Surroundings

CANCEL_SECONDS = 60.0
"""For how long a refresh may take to end once it was asked to."""
LOOK_SECONDS = 0.2


def wait_until(
    done: Callable[[], bool],
    seconds: float | None,
    sleep: Callable[[float], None],
    clock: Callable[[], float] = monotonic,
) -> bool:
    """Look again and again; False where it is not done after so many seconds, None is never."""
    until = None if seconds is None else clock() + seconds
    while not done():
        if until is not None and clock() >= until:
            return False
        sleep(LOOK_SECONDS)
    return True


@dataclass
class Stopping:
    """Refreshes that were asked to stop, and what became of them."""

    around: Surroundings
    running: Collection[RefreshId]
    was_cancelled: bool = False

    def has_ended(self) -> bool:
        """Whether none of them runs any more; what a dead process left is ended."""
        if not self.running:
            return True
        recover(self.around)
        states = self.around.catalog.refresh_states(self.running)
        self.was_cancelled |= "cancelled" in states.values()
        self.running = [key for key, state in states.items() if state == "running"]
        return not self.running

    @property
    def told(self) -> str:
        """What still runs, for people."""
        return "a refresh" if len(self.running) == 1 else f"one of {len(self.running)} refreshes"


@dataclass
class Draining:
    """Tables of which nothing more starts, and which of them are still being refreshed."""

    around: Surroundings
    tables: Collection[InputId]
    running: frozenset[InputId] = frozenset()

    def has_ended(self) -> bool:
        """Whether nothing runs of them; what a dead process left is ended."""
        recover(self.around)
        found = {record.stream_table_id for record in self.around.catalog.running_refreshes()}
        self.running = frozenset(found.intersection(self.tables))
        return not self.running
