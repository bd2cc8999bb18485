"""For how long the changes that a refresh brought had been there: from their commit to its end.

Of tables that are captured, drains say this; here are the Delta tables that others write.
"""

from __future__ import annotations

from datetime import UTC, datetime

from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import StreamTablesError
from streamtables.positions import Version
from streamtables.refresh.task import Task
from streamtables.sources.changes import Window


def waited(task: Task, now: datetime) -> dict[str, float]:
    """Return the seconds since the oldest new change of each Delta source that a task reads."""
    if task.standing is None:
        return {}
    sources = task.definitions.sources
    moved = [item for item in task.moved if item.id in task.standing.frontier]
    found = {
        sources[item.id].name: _first_change(task.window(item))
        for item in moved
        if item.id in sources and sources[item.id].kind == "delta"
    }
    return {
        name: max(0.0, (now - at).total_seconds()) for name, at in found.items() if at is not None
    }


def _first_change(window: Window) -> datetime | None:
    """Return when the first change was committed; None where the log no longer tells."""
    log = DeltaLog(window.location)
    for version in range(window.since + 1, window.upto + 1):
        try:
            entry = log.entry(Version(version))
        except StreamTablesError:
            return None
        if entry is None:
            return None
        if entry.changes_rows:
            return datetime.fromtimestamp(entry.timestamp_ms / 1000, UTC)
    return None
