"""Log entries as the rules of positions see them."""

from __future__ import annotations

from collections.abc import Iterable

from streamtables.engine.log_entry import LogEntry
from streamtables.positions import CommitFacts


def facts_of(entries: Iterable[LogEntry]) -> tuple[CommitFacts, ...]:
    """Return what the rules need to know of some log entries."""
    return tuple(
        CommitFacts(entry.version, entry.stamp, entry.changes_rows, entry.is_maintenance)
        for entry in entries
    )
