"""Which events people are told of beyond the catalog, how loudly, and in which words.

What leaves the process never holds rows or secrets.  The text of some events repeats what Spark or
a server said, which may quote a value; those have a sentence of their own here, and their text
stays in the catalog.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import NamedTuple

from streamtables.catalog.scheduler_models import Event

OTHER = "other"

_CODE = re.compile(r"\bST-\d{4}\b")


class Kind(NamedTuple):
    """How a kind of event is told."""

    level: int
    topic: str = ""
    """What a webhook is told it is about; empty where webhooks are not told."""
    sentence: str = ""
    """What is said instead of the event's own text, where that may quote a value."""


KINDS: dict[str, Kind] = {
    "change_buffer_backpressure": Kind(logging.WARNING, "back-pressure"),
    "change_buffer_backpressure_cleared": Kind(logging.INFO, "back-pressure"),
    "freshness-at-risk": Kind(logging.WARNING, "sla"),
    "freshness-late": Kind(logging.ERROR, "sla"),
    "freshness-ok": Kind(logging.INFO, "sla"),
    "suspended": Kind(
        logging.ERROR, "suspended", "it is suspended; `streamtables events` says why"
    ),
    "fell-back-to-full": Kind(logging.WARNING, "full-refresh"),
    "slot-lost": Kind(logging.WARNING, "capture"),
    "slot-too-large": Kind(logging.WARNING, "capture"),
    "resnapshot": Kind(
        logging.WARNING, "capture", "it is copied anew; `streamtables wal status` says why"
    ),
    "verify-difference": Kind(logging.ERROR, "verify"),
    "verified": Kind(logging.INFO),
    "not-verified": Kind(logging.WARNING, sentence="it could not be compared with its query"),
    "publication_lag": Kind(logging.WARNING, "publication"),
    "publication_lag_cleared": Kind(logging.INFO, "publication"),
    "publication_expired": Kind(logging.WARNING, "publication"),
    "push-failed": Kind(
        logging.WARNING, "publication", "changes could not be pushed; it is tried again"
    ),
    "push-recovered": Kind(logging.INFO, "publication"),
    "failed": Kind(logging.WARNING, sentence="a refresh failed and is tried again"),
    "cancelled": Kind(logging.INFO),
    "recovered": Kind(logging.INFO),
    "held": Kind(logging.INFO),
    "released": Kind(logging.INFO),
    "skipped": Kind(logging.INFO),
    "coalesced": Kind(logging.INFO),
    "deferred": Kind(logging.INFO, sentence="it waits for what it reads"),
    "leader": Kind(logging.INFO),
    "notify": Kind(logging.WARNING, sentence="writers cannot wake the scheduler"),
    "threshold-crossed": Kind(logging.INFO),
    "tidied": Kind(logging.INFO),
    "not-tidied": Kind(logging.WARNING, sentence="its files could not be tidied up"),
    "tick-failed": Kind(logging.ERROR, sentence="a tick failed"),
}


UNKNOWN = Kind(logging.INFO, sentence="`streamtables events` says more")
"""A kind that is not listed: what its text may hold, nobody has said."""


@dataclass(frozen=True)
class Notice:
    """One event as it is told to the outside."""

    at: str
    kind: str
    topic: str
    level: str
    subject: str
    text: str


def kind_of(event: Event) -> str:
    """Return the kind of an event, as a label with few values."""
    return event.kind if event.kind in KINDS else OTHER


def notice_of(event: Event) -> Notice:
    """Return what the outside may know of an event."""
    known = KINDS.get(event.kind, UNKNOWN)
    return Notice(
        at=event.at.isoformat(),
        kind=event.kind,
        topic=known.topic,
        level=logging.getLevelName(known.level).lower(),
        subject=event.subject,
        text=_safe(known.sentence, event.text) if known.sentence else event.text,
    )


def _safe(sentence: str, text: str) -> str:
    """Return the sentence, with the code of the error that the text names."""
    found = _CODE.search(text)
    return f"{sentence} ({found.group()})" if found else sentence
