"""The permission to start one more refresh: until it is taken back, or the lease has run out.

A process that stood still does not know it.  So whoever starts something compares its own clock
with the end of the lease, and needs nobody to tell it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event


def _utc_now() -> datetime:
    return datetime.now(UTC)


class NoMore(Event):
    """Set, or as good as set: nothing more may start."""

    def __init__(self, clock: Callable[[], datetime] = _utc_now) -> None:
        super().__init__()
        self.clock = clock
        self.until: datetime | None = None
        """The end of the lease under which things start; None where there is none."""

    def is_set(self) -> bool:
        """Whether it was said, or the lease has run out."""
        return super().is_set() or (self.until is not None and self.until < self.clock())
