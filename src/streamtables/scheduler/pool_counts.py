"""What a pool of threads is doing: counts behind one small lock."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Condition, get_ident
from time import monotonic
from typing import Any

Task = Future[Any]


class PoolCounts:
    """Which tasks wait and run, and for how long threads that stay had none."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queued: set[Task] = set()
        self._running: set[Task] = set()
        self._idle_since: dict[int, float] = {}
        self._idle_seconds = 0.0
        self._spawned = 0

    @property
    def queued(self) -> int:
        """How many tasks wait."""
        return len(self._queued)

    @property
    def running(self) -> int:
        """How many tasks run."""
        return len(self._running)

    @property
    def spawned(self) -> int:
        """How many threads there have been."""
        return self._spawned

    def idle_seconds(self) -> float:
        """Return the seconds without a task, of all threads that stay."""
        with self._changed:
            now = monotonic()
            return self._idle_seconds + sum(now - since for since in self._idle_since.values())

    def next_thread(self) -> int:
        """Count a new thread, and return its number."""
        with self._changed:
            self._spawned += 1
            return self._spawned

    def submitted(self, task: Task) -> None:
        """Note a task that waits for a thread."""
        with self._changed:
            self._queued.add(task)

    def began(self, task: Task) -> None:
        """Note that this thread runs a task that waited."""
        with self._changed:
            self._queued.discard(task)
            self._running.add(task)
            now = monotonic()
            self._idle_seconds += now - self._idle_since.pop(get_ident(), now)

    def ended(self, task: Task, *, thread_stays: bool) -> None:
        """Note that a task is done, cancelled, or never came to a thread."""
        with self._changed:
            self._queued.discard(task)
            self._running.discard(task)
            if thread_stays:
                # A task that was cancelled did not interrupt the idleness of its thread.
                self._idle_since.setdefault(get_ident(), monotonic())
            self._changed.notify_all()

    def threads_ended(self) -> None:
        """Note that no thread is left that could be idle."""
        with self._changed:
            now = monotonic()
            self._idle_seconds += sum(now - since for since in self._idle_since.values())
            self._idle_since.clear()

    def wait_until_none(self) -> None:
        """Wait until no task waits or runs."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queued and not self._running)
