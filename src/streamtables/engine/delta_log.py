"""Reading a Delta log without Spark: heads, entries, stamps.

An entry file is written once and never changed, so a parsed entry is cached.  The one trap: a table
can be dropped and made again at the same path, so a cached entry counts only while the file's
size and time are the ones it was parsed from.

A store may show an entry later than it was written, and later than the one after it.  Clean-up
takes the oldest entries first, so one that is missing between others is not gone: it is late.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from streamtables.engine.log_entry import LogEntry, parse_entry
from streamtables.engine.log_files import FileFacts, LogFiles, open_log_files
from streamtables.engine.stores import local_path
from streamtables.errors import HistoryGoneError, SourceUnusableError, TransientError
from streamtables.positions import InputId, Sequence, Version

_ENTRY_NAME = re.compile(r"^(\d{20})\.(?:json|checkpoint\..*parquet|checkpoint\.parquet)$")
LATE_SECONDS = 120.0
"""For how long an entry that a store does not show is late; after that it is gone."""
# Past this many probes in a row one listing is cheaper than asking for each next entry.
_PROBES_MAX = 200


@dataclass
class EntryCache:
    """The last parsed entries of all logs of the process."""

    size: int = 4096
    _entries: OrderedDict[tuple[str, int], tuple[FileFacts, LogEntry]] = field(
        default_factory=OrderedDict
    )
    _lock: Lock = field(default_factory=Lock)

    def get(self, location: str, version: int, facts: FileFacts) -> LogEntry | None:
        """Return the entry if it was parsed from this very file."""
        with self._lock:
            found = self._entries.get((location, version))
            if found is None or found[0] != facts:
                return None
            self._entries.move_to_end((location, version))
            return found[1]

    def put(self, location: str, version: int, facts: FileFacts, entry: LogEntry) -> None:
        """Keep an entry, dropping the one unused for longest when full."""
        with self._lock:
            self._entries[(location, version)] = (facts, entry)
            if len(self._entries) > self.size:
                self._entries.popitem(last=False)


_SHARED_CACHE = EntryCache()


class DeltaLog:
    """The `_delta_log` of the table at `location`: a path, a file: URI, or any other URI."""

    def __init__(self, location: str, *, cache: EntryCache | None = None) -> None:
        self.location = location
        self._files: LogFiles = open_log_files(location)
        self._cache = cache or _SHARED_CACHE

    def head(self, known: Version | None = None) -> Version | None:
        """Return the last version; None when there is no table.

        From a known version it asks for the next entries only; without one it lists the log.
        """
        if known is None:
            return self._listed_head()
        version = int(known)
        while version - known < _PROBES_MAX and self._facts(version + 1) is not None:
            version += 1
        # A log that lost the known entry was cleaned up or belongs to another table by now.
        if version - known == _PROBES_MAX or (version == known and self._facts(version) is None):
            return self._listed_head()
        return Version(version)

    def entry(self, version: Version) -> LogEntry | None:
        """Return one entry; None when the log does not hold it."""
        facts = self._facts(version)
        if facts is None:
            return None
        if (cached := self._cache.get(self.location, version, facts)) is not None:
            return cached
        data = self._files.read(_file_name(version))
        if data is None:
            return None
        try:
            entry = parse_entry(version, data, written_ms=facts.modified_ms)
        except SourceUnusableError as error:
            raise SourceUnusableError(
                f'version {version} of the log of "{self.location}" cannot be read',
                detail=error.detail,
                hint=error.hint,
            ) from error
        self._cache.put(self.location, version, facts, entry)
        return entry

    def require_shown(self) -> None:
        """Raise TransientError while a store shows an entry and not the one before it."""
        if missing := self._late():
            raise self._not_shown(min(missing))

    def entries(self, after: Version, upto: Version) -> tuple[LogEntry, ...]:
        """Return the entries with after < version ≤ upto; each one must be there."""
        return tuple(self._require(Version(v)) for v in range(after + 1, upto + 1))

    def find_transaction(
        self, table_id: InputId, sequence: Sequence, *, upto: Version
    ) -> LogEntry | None:
        """Return the entry that carries this transaction, or the first later one that does.

        Sequences only grow along a log, so the walk back ends at the first smaller one.
        """
        later = None
        for version in range(upto, -1, -1):
            entry = self.entry(Version(version))
            if entry is None:
                break
            number = entry.transactions.get(table_id)
            if number is None:
                continue
            if number < sequence:
                break
            later = entry
            if number == sequence:
                break
        return later

    def _require(self, version: Version) -> LogEntry:
        entry = self.entry(version)
        if entry is None:
            if version in self._late():
                raise self._not_shown(version)
            raise HistoryGoneError(
                f'version {version} is no longer in the log of "{self.location}"',
                detail="The log was cleaned up, or the table was made again, since it was read.",
                hint="Refresh with full=True to read the source as it is now.",
            )
        return entry

    def _late(self) -> set[int]:
        """Return the versions that are missing between others of which the last is new."""
        if local_path(self.location) is not None:
            return set()
        matches = (_ENTRY_NAME.match(name) for name in self._files.names())
        shown = {int(match[1]) for match in matches if match and match[0].endswith(".json")}
        missing = set(range(min(shown), max(shown))) - shown if shown else set()
        newest = self._facts(max(shown)) if missing else None
        if newest is None or time.time() - newest.modified_ms / 1000 > LATE_SECONDS:
            return set()
        return missing

    def _not_shown(self, version: int) -> TransientError:
        return TransientError(
            f'version {version} of "{self.location}" is not shown yet',
            detail="The store shows a later one: what was written is visible a moment later there.",
            hint="It is tried again by itself.",
        )

    def _facts(self, version: int) -> FileFacts | None:
        return self._files.facts(_file_name(version))

    def _listed_head(self) -> Version | None:
        matches = (_ENTRY_NAME.match(name) for name in self._files.names())
        return max((Version(int(match[1])) for match in matches if match), default=None)


class HeadProbe:
    """Says whether a log is as it was at the last look; it reads no entry."""

    def __init__(self, location: str) -> None:
        self._files: LogFiles = open_log_files(location)
        self._log = DeltaLog(location)
        self._head: Version | None = None
        self._facts: FileFacts | None = None

    def moved(self) -> bool:
        """Whether entries were added, or the last one is another file; the first look says yes."""
        if self._head is not None and self._is_as_it_was(self._head):
            return False
        self._head = self._log.head(self._head)
        self._facts = self._files.facts(_file_name(self._head)) if self._head is not None else None
        return True

    def _is_as_it_was(self, head: Version) -> bool:
        if self._files.facts(_file_name(head + 1)) is not None:
            return False
        return self._facts is not None and self._files.facts(_file_name(head)) == self._facts


def _file_name(version: int) -> str:
    return f"{version:020d}.json"
