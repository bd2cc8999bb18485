"""How a restored table stands to a restored catalog, by its own log.

equal     the log ends where the catalog says
ahead     refreshes came after: they are adopted
behind    the log ends earlier, or took another way: the last stamp in it counts
missing   there is no table: its next refresh fills it
damaged   somebody else wrote to it, or its log does not say who did
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_facts import facts_of
from streamtables.errors import HistoryGoneError
from streamtables.positions import (
    Adopt,
    Clean,
    InputId,
    Sequence,
    Standing,
    Tampered,
    Version,
    classify_log,
)

How = Literal["equal", "ahead", "behind", "missing", "damaged"]


@dataclass(frozen=True)
class Judgement:
    """How a table stands, and where by its own log."""

    how: How
    text: str
    standing: Standing | None = None
    other_history: bool = False
    """Whether versions of this table may hold other rows than those that readers consumed."""


def judge(location: str, table_id: InputId, standing: Standing | None, now: datetime) -> Judgement:
    """Compare a table's own log with where the catalog says that it stands."""
    log = DeltaLog(location)
    head = log.head()
    if head is None:
        if standing is None:
            return Judgement("equal", "it had no rows yet")
        return Judgement("missing", "its Delta table is not there; its next refresh fills it")
    if standing is not None and _is_its_commit(log, standing, table_id):
        return _after(log, table_id, standing, head, now)
    return _by_its_own_log(log, table_id, standing, head, now)


def _is_its_commit(log: DeltaLog, standing: Standing, table_id: InputId) -> bool:
    entry = log.entry(standing.version)
    stamp = entry.stamp if entry else None
    return stamp is not None and (stamp.table_id, stamp.sequence, stamp.refresh_id) == (
        table_id,
        standing.sequence,
        standing.refresh_id,
    )


def _after(
    log: DeltaLog, table_id: InputId, standing: Standing, head: Version, now: datetime
) -> Judgement:
    found = _classified(log, table_id, standing.sequence, standing.refresh_id, standing.version)
    if isinstance(found, Clean):
        return Judgement("equal", f"it stands at version {standing.version}", standing)
    if isinstance(found, Adopt):
        text = f"version {found.version} came after the backup and was adopted"
        return Judgement("ahead", text, Standing.from_stamp(found.stamp, found.version, now))
    return _damaged(found)


def _by_its_own_log(
    log: DeltaLog, table_id: InputId, standing: Standing | None, head: Version, now: datetime
) -> Judgement:
    for version in range(int(head), -1, -1):
        entry = log.entry(Version(version))
        if entry is None:
            break
        stamp = entry.stamp
        if stamp is None or stamp.table_id != table_id or entry.is_maintenance:
            continue
        rest = _classified(log, table_id, stamp.sequence, stamp.refresh_id, entry.version)
        if not isinstance(rest, Clean):
            return _damaged(rest)
        found = Standing.from_stamp(stamp, entry.version, now)
        if standing is None:
            text = f"version {version} came after the backup and was adopted"
            return Judgement("ahead", text, found)
        other = found.version >= standing.version
        text = f"it stands at version {version}, and not at {standing.version} as recorded"
        return Judgement("behind", text, found, other_history=other)
    return Judgement("damaged", "its log does not tell which refresh wrote it")


def _classified(
    log: DeltaLog, table_id: InputId, sequence: Sequence, refresh_id: str, after: Version
) -> Clean | Adopt | Tampered | None:
    head = log.head()
    assert head is not None
    try:
        entries = facts_of(log.entries(after, head))
    except HistoryGoneError:
        return None
    return classify_log(entries, table_id, sequence, refresh_id)  # type: ignore[arg-type]


def _damaged(found: object) -> Judgement:
    if isinstance(found, Tampered):
        return Judgement("damaged", f"version {found.version} was not written by a refresh")
    return Judgement("damaged", "its log was cut short")
