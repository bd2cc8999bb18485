"""Which versions one answer covers, and when a subscriber has to start anew: pure decisions.

Versions are never split: an answer ends where a refresh ended, so whoever has applied it holds the
table as it was at one moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.catalog.publication_models import Subscriber, SubscriberState
from streamtables.positions import Version

NEW = "it has no rows yet"
REMADE = "the table was made anew"
ALTERED = "the table has other columns"
GONE = "the history since its version is gone"
EXPIRED = "its position had expired"


@dataclass(frozen=True)
class Window:
    """The versions of one answer: after `after`, up to `upto`; or all rows, with the reason."""

    incarnation: str
    after: Version | None
    upto: Version
    current: Version
    reset: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.reset and self.after == self.upto

    def key(self, publication_id: str) -> str:
        """Return the name of the window, the same whenever it is sent again."""
        after = "snapshot" if self.reset or self.after is None else int(self.after)
        return f"{publication_id}:{self.incarnation}:{after}:{int(self.upto)}"


def reset_reason(subscriber: Subscriber, incarnation: str, current: Version) -> str:
    """Say why changes alone do not lead on from where a subscriber stands, or nothing."""
    if subscriber.state == "expired":
        return EXPIRED
    if subscriber.version is None:
        return NEW
    if subscriber.incarnation != incarnation or subscriber.version > current:
        return REMADE
    return ""


def last_version(
    after: Version, current: Version, changed: Iterable[int | None], limit: int
) -> Version:
    """Return where a window ends: as far as about `limit` rows changed, and at least one version.

    `changed` says how many rows each version after `after` changed; None is not known, and ends
    the window.
    """
    upto, total = after, 0
    for rows in changed:
        if upto == current:
            break
        total += limit if rows is None else rows
        if total > limit and upto > after:
            break
        upto = Version(upto + 1)
    return upto


def lag_of(subscriber: Subscriber, incarnation: str, current: Version) -> int:
    """Return how many versions a subscriber has not acknowledged."""
    if reset_reason(subscriber, incarnation, current):
        return int(current) + 1
    assert subscriber.version is not None
    return int(current) - int(subscriber.version)


def next_state(subscriber: Subscriber, lag: int, warn: int, now: datetime) -> SubscriberState:
    """Return the state of a subscriber that is so many versions behind.

    Only what its own policy says lets one expire, and only one that lacks something.
    """
    if subscriber.state == "expired":
        return "expired"
    limit = subscriber.expire_seconds
    if limit is not None and lag > 0 and subscriber.version is not None:
        silent = now - subscriber.acknowledged_at
        if silent > timedelta(seconds=limit):
            return "expired"
    return "lagging" if lag > warn else "active"
