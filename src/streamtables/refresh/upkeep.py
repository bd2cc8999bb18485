"""Keeping the files of our own tables few: when which job is due, and doing it.

Every commit adds a log entry, and most leave a small file, the file that it replaced and a file of
changes.  Nothing here changes a row; a table that is refreshed at the same time wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Literal

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Source, StreamTable
from streamtables.engine import upkeep as jobs
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.upkeep import Condition
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Standing, Version
from streamtables.settings import Settings

Job = Literal["checkpoint", "compact", "remove"]

REMOVE_EVERY = timedelta(hours=24)
"""How often files that nobody needs are looked for: that lists the whole folder."""

LOG_HOURS = 30 * 24
"""For how long Delta keeps log entries by default; where a reader needs older ones, all stay."""


@dataclass(frozen=True)
class Kept:
    """What became of one job on one table."""

    table: str
    job: Job
    text: str
    error: StreamTablesError | None = None


def due_jobs(found: Condition, settings: Settings, *, remove: bool) -> list[Job]:
    """Return the jobs that a table needs, in the order in which they are done."""
    due: list[Job] = []
    if settings.compact_after and found.small_files >= settings.compact_after:
        due.append("compact")
    if settings.checkpoint_after and found.entries >= settings.checkpoint_after:
        due.append("checkpoint")
    if settings.retention_hours and remove:
        due.append("remove")
    return due


@dataclass
class Upkeep:
    """Does what is due, one table at a time, and knows when it last did."""

    settings: Settings
    published: Callable[[str], Iterable[Version]] = lambda _: ()
    """Says after which versions subscribers still take the changes of a table, by its name."""
    labelled: Callable[[InputId], Iterable[Version]] = lambda _: ()
    """Says which versions of a table snapshots keep."""
    _seen: dict[InputId, Version] = field(default_factory=dict)
    _removed_at: dict[InputId, datetime] = field(default_factory=dict)

    def wants(self, table: InputId, version: Version) -> bool:
        """Whether a table has had so many commits since the last look that one is due."""
        seen = self._seen.get(table)
        steps = [n for n in (self.settings.checkpoint_after, self.settings.compact_after) if n]
        return bool(steps) and (seen is None or int(version) - int(seen) >= min(steps))

    def keep(
        self,
        table: StreamTable | Source,
        definitions: Definitions,
        standings: Mapping[InputId, Standing],
        now: datetime,
        *,
        remove: bool = False,
    ) -> Iterator[Kept]:
        """Do the jobs that a table needs now; `remove` does not wait until that is due."""
        location = table.location
        try:
            found = jobs.condition(location)
        except StreamTablesError as error:
            yield Kept(table.name, "checkpoint", error.message, error)
            return
        if found is None:
            return
        self._seen[table.id] = found.version
        last = self._removed_at.setdefault(table.id, now)
        remove = remove or now - last >= REMOVE_EVERY
        for job in due_jobs(found, self.settings, remove=remove):
            hours = self._hours(table, definitions, standings, now)
            yield self._done(table, job, hours)
            if job == "remove":
                self._removed_at[table.id] = now

    def _done(self, table: StreamTable | Source, job: Job, hours: int) -> Kept:
        try:
            # A job before this one may have committed.
            version = DeltaLog(table.location).head()
            assert version is not None
            keep_entries = not self.settings.retention_hours or hours > LOG_HOURS
            text = _do(job, table.location, version, hours, keep_entries=keep_entries)
            return Kept(table.name, job, text)
        except StreamTablesError as error:
            return Kept(table.name, job, error.detail or error.message, error)

    def _hours(
        self,
        table: StreamTable | Source,
        definitions: Definitions,
        standings: Mapping[InputId, Standing],
        now: datetime,
    ) -> int:
        """Return for how long files are kept: the setting, or longer for the slowest reader."""
        oldest = now
        log = DeltaLog(table.location)
        in_use = _versions_in_use(table.id, definitions, standings)
        for version in {*in_use, *self.published(table.name), *self.labelled(table.id)}:
            # Of what comes after a version the next entry tells too.
            entry = log.entry(version) or log.entry(Version(version + 1))
            if entry is not None:
                written = datetime.fromtimestamp(entry.timestamp_ms / 1000, tz=now.tzinfo)
                oldest = min(oldest, written)
        lag = ceil((now - oldest) / timedelta(hours=1)) + 1
        return max(self.settings.retention_hours, lag)


def _versions_in_use(
    table: InputId, definitions: Definitions, standings: Mapping[InputId, Standing]
) -> set[Version]:
    """Return the versions that a refresh or a verification of another table will ask for."""
    found = set()
    for reader in definitions.dependants(table):
        if (standing := standings.get(reader.id)) is not None:
            for frontier in (standing.frontier, standing.base_frontier):
                if table in frontier:
                    found.add(frontier[table])
    return found


def _do(job: Job, location: str, version: Version, hours: int, *, keep_entries: bool) -> str:
    if job == "checkpoint":
        jobs.write_checkpoint(location, version, keep_entries=keep_entries)
        return f"the log is in one file up to version {version}"
    if job == "compact":
        before, after = jobs.compact(location, version)
        return f"{before:,} files became {after:,}"
    gone = jobs.remove_unused(location, version, hours)
    return f"{gone:,} files that no version of the last {hours:,} hours needs were removed"
