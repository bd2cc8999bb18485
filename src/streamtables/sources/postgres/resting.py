"""What failed after taking long rests before it is tried again, so that others get their turn.

A server that does not answer takes a time-out to say so, and a copy that meets a value it cannot
keep may have read a million rows before it.  Each is tried again after several times as long as it
took; what fails at once is tried at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

from streamtables.errors import StreamTablesError

K = TypeVar("K")

_LONG_SECONDS = 2.0
_TIMES = 4.0
_MOST_SECONDS = 600.0


@dataclass
class Resting(Generic[K]):
    """The errors of what rests, and until when."""

    timer: Callable[[], float] = monotonic
    _until: dict[K, tuple[float, StreamTablesError]] = field(default_factory=dict)

    def error_of(self, key: K) -> StreamTablesError | None:
        """Return with what something failed that still rests; None where it may be tried."""
        until, error = self._until.get(key, (0.0, None))
        return error if error is not None and self.timer() < until else None

    def failed(self, key: K, error: StreamTablesError, seconds: float) -> None:
        """Note that something failed, and after how long."""
        if seconds >= _LONG_SECONDS:
            rest = min(_TIMES * seconds, _MOST_SECONDS)
            self._until[key] = (self.timer() + rest, error)

    def worked(self, key: K) -> None:
        """Note that something worked again."""
        self._until.pop(key, None)
