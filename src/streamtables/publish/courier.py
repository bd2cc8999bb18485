"""The thread that looks after publications beside the scheduler: no refresh waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Condition, Thread

EVERY = timedelta(seconds=30)
"""How often publications are looked after while no table moves."""

_log = logging.getLogger("streamtables.publish")


class Courier:
    """Runs one piece of work at a time; a call while it runs has it run once more."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._wanted = False
        self._ending = False
        self._running = False
        self._thread: Thread | None = None
        self._changed = Condition()
        self._known: int | None = None
        self._any = False
        self._next_at: datetime | None = None

    def ticked(
        self, generation: int, now: datetime, *, moved: bool, ask: Callable[[], bool]
    ) -> None:
        """Note a tick: work is wanted when tables moved, definitions changed, or it is time.

        `ask` says whether there are publications; it is asked once for each generation, so that a
        warehouse without any costs nothing.
        """
        if generation != self._known:
            self._any, self._known, self._next_at = ask(), generation, None
        if self._any and (moved or self._next_at is None or now >= self._next_at):
            self._next_at = now + EVERY
            self.call()

    def call(self) -> None:
        """Have the work done soon."""
        with self._changed:
            if self._ending:
                return
            self._wanted = True
            if self._thread is None:
                self._thread = Thread(target=self._run, name="streamtables-publish", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is to do; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._wanted or self._running), seconds)

    def close(self, seconds: float = 30.0) -> None:
        """Let what runs end, and do no more."""
        with self._changed:
            self._ending, self._wanted = True, False
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._ending)
                if self._ending:
                    return
                self._wanted, self._running = False, True
            try:
                self._work()
            except Exception:  # the next call tries again; refreshes go on
                _log.exception("publications could not be looked after")
            finally:
                with self._changed:
                    self._running = False
                    self._changed.notify_all()
