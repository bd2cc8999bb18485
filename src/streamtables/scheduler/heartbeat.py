"""A heartbeat for what may take long and mostly does not.

Its thread stays from one opening to the next, as a thread for each would cost more than most ticks
take.  It ends by itself when a whole beat passes without an opening.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import sleep
from types import TracebackType

_log = logging.getLogger("streamtables.scheduler")


@dataclass
class Heartbeat:
    """Beats while it is open.

    Invariant: no beat is under way when the block that opened it has been left.
    """

    beat: Callable[[], bool]
    """Whether to go on; False is the last beat of this opening."""
    seconds: float
    _open: bool = False
    _openings: int = 0
    _thread: Thread | None = None
    _lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> None:
        with self._lock:
            self._open = True
            self._openings += 1
            if self._thread is None:
                self._thread = Thread(target=self._run, name="streamtables-lease", daemon=True)
                self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._open = False

    def _beaten(self) -> bool:
        try:
            return self.beat()
        except Exception:
            # The next beat may work; a thread that ended here would never beat again.
            _log.exception("a beat failed")
            return True

    def _run(self) -> None:
        seen = 0
        while True:
            sleep(self.seconds)
            with self._lock:
                if self._open:
                    self._open = self._beaten()
                elif self._openings == seen:
                    self._thread = None
                    return
                seen = self._openings
