"""Delta tables as sources: where each stands, and whether it is still the table we know.

A look costs two questions to the file system while nothing moved.  When the log has grown, its new
entries are read; the table itself is opened only when one of them altered it, or on the first look
of a process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from streamtables.catalog.models import Source
from streamtables.catalog.source_heads import Head
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import TableDescription, describe
from streamtables.engine.log_entry import LogEntry
from streamtables.engine.names import RESERVED_PREFIX
from streamtables.errors import HistoryGoneError, SourceMissingError
from streamtables.positions import InputId, Version

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions


@dataclass(frozen=True)
class Drift:
    """How a table differs from what the catalog knows of it."""

    recreated: bool = False
    put_back: bool = False
    """Versions that were seen have other commits now, or are gone: it was restored from a copy."""
    missing: tuple[str, ...] = ()
    retyped: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()

    @property
    def anew(self) -> bool:
        """Whether versions that were read are those of a table that is gone."""
        return self.recreated or self.put_back

    @property
    def none(self) -> bool:
        """Whether the table is as it was."""
        return self == Drift()


@dataclass(frozen=True)
class SourcePosition:
    """Where a source stands: the version to pin, and what is known of the table there."""

    version: Version
    head: Version
    description: TableDescription
    drift: Drift
    mark: str | None = None
    """What the commit of the head is recognised by; None where the log no longer has it."""


@dataclass(frozen=True)
class _Seen:
    position: SourcePosition
    # The parsed entry of the head: the same object as long as the file is the same.
    entry: LogEntry | None


class DeltaWatch:
    """Looks at Delta tables, and remembers what it saw; safe to share between threads."""

    def __init__(self, sessions: SparkSessions | None = None) -> None:
        self._sessions = sessions
        self._seen: dict[InputId, _Seen] = {}
        self._lock = Lock()
        self.known: Mapping[InputId, Head] = {}
        """What was last seen of sources by any process."""

    def look(self, source: Source, consumed: Version | None) -> SourcePosition:
        """Return where a source stands now.

        `consumed` is the greatest version that any stream table has consumed: a commit that
        changed neither rows nor schema is not a change, so the pin may be older than the head.

        Raises:
            SourceMissingError: there is no table any more.
        """
        with self._lock:
            seen = self._seen.get(source.id)
        log = DeltaLog(source.location)
        if seen is not None and seen.position.drift == drift_of(source, seen.position.description):
            head = log.head(seen.position.head)
            if head == seen.position.head and log.entry(head) is seen.entry:
                return seen.position
            moved = self._moved(log, seen, head)
            if moved is not None:
                return self._remember(source, log, moved)
        return self._remember(source, log, self._opened(source, log, consumed))

    def expect(self, sources: Collection[InputId], heads: Mapping[InputId, Head]) -> None:
        """Take in what was last seen of some sources; those without a head were never seen."""
        with self._lock:
            others = {key: head for key, head in self.known.items() if key not in sources}
            self.known = {**others, **heads}

    def forget(self, source_id: InputId) -> None:
        """Look at a source anew the next time."""
        with self._lock:
            self._seen.pop(source_id, None)

    def _moved(self, log: DeltaLog, seen: _Seen, head: Version | None) -> SourcePosition | None:
        """Return the new position when the log only grew by commits that altered nothing."""
        last = seen.position
        if head is None or head <= last.head or log.entry(last.head) is not seen.entry:
            return None
        try:
            entries = log.entries(last.head, head)
        except HistoryGoneError:
            return None
        if any(entry.schema_string is not None for entry in entries):
            return None
        changing = [entry.version for entry in entries if entry.changes_rows]
        version = changing[-1] if changing else last.version
        return SourcePosition(
            version, head, _resized(last.description, entries), last.drift, entries[-1].mark
        )

    def _opened(self, source: Source, log: DeltaLog, consumed: Version | None) -> SourcePosition:
        try:
            description = describe(source.location, self._sessions)
        except SourceMissingError as error:
            self.forget(source.id)
            raise SourceMissingError(
                f'the table of source "{source.name}" is gone',
                detail=f'There is no Delta table at "{source.location}".',
                hint="Restore the table, or drop the source and what reads it.",
            ) from error
        head = description.version
        drift = replace(
            drift_of(source, description), put_back=self._was_put_back(source, log, head)
        )
        floor = consumed if consumed is not None and not drift.anew else None
        entry = log.entry(head)
        mark = entry.mark if entry is not None else None
        return SourcePosition(_last_change(log, floor, head), head, description, drift, mark)

    def _was_put_back(self, source: Source, log: DeltaLog, head: Version) -> bool:
        """Whether the log does not continue what was seen; unknown past its own clean-up."""
        known = self.known.get(source.id)
        if known is None or source.kind == "postgres":
            return False
        if known.version > head:
            return True
        entry = log.entry(known.version)
        return entry is not None and entry.mark != known.mark

    def _remember(self, source: Source, log: DeltaLog, position: SourcePosition) -> SourcePosition:
        entry = log.entry(position.head)
        with self._lock:
            self._seen[source.id] = _Seen(position, entry)
        return position


def drift_of(source: Source, description: TableDescription) -> Drift:
    """Compare a table with what the catalog knows of it."""
    now = {
        column.name.lower(): column.type
        for column in description.columns
        if not column.name.startswith(RESERVED_PREFIX)
    }
    known = {column.name.lower(): column.type for column in source.columns}
    return Drift(
        recreated=description.table_id != source.delta_table_id,
        missing=tuple(name for name in known if name not in now),
        retyped=tuple(
            (name, type_, now[name])
            for name, type_ in known.items()
            if name in now and now[name] != type_
        ),
        added=tuple(name for name in now if name not in known),
    )


def _last_change(log: DeltaLog, floor: Version | None, head: Version) -> Version:
    """Return the last version in (floor, head] that changed the table, as far as the log reaches.

    An ALTER counts: columns may have other names since, and a pin shows the names of its version.
    """
    stop = -1 if floor is None else int(floor)
    for version in range(int(head), stop, -1):
        entry = log.entry(Version(version))
        if entry is None:
            # Cleaned up below here: the head stands for the same rows.
            return head
        if not entry.is_maintenance:
            return Version(version)
    return head if floor is None or floor > head else floor


def _resized(description: TableDescription, entries: tuple[LogEntry, ...]) -> TableDescription:
    """Carry the table's size along, as the commits tell it."""
    from dataclasses import replace

    rows = description.rows
    for entry in entries:
        if rows is None or entry.rows_added is None or entry.rows_removed is None:
            rows = None
            break
        rows += entry.rows_added - entry.rows_removed
    return replace(description, version=entries[-1].version, rows=rows)
