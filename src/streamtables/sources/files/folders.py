"""Folders of files as sources: added, taken from, dropped.

The rows of the files are kept in a Delta table here, the mirror of the folder.  A take adds the
rows of new files by one commit, which names the files that the mirror then shows.  A file that
changed or went makes all files be read anew, in one commit too, with the reason told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from streamtables.catalog.models import Column, FileFolder, Source, new_id, new_refresh_id
from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.store import Catalog
from streamtables.engine import spark_hand
from streamtables.engine.describe import describe
from streamtables.engine.file_listing import files_in
from streamtables.engine.file_rows import FileSet, columns_in, columns_of_text, read_files
from streamtables.engine.names import RESERVED_PREFIX
from streamtables.engine.outcomes import Superseded
from streamtables.engine.removal import remove_own_table
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import (
    CommitConflictError,
    ConfigError,
    HistoryGoneError,
    InternalError,
    QueryFailedError,
    SourceUnusableError,
    StreamTablesError,
)
from streamtables.fail_points import reach
from streamtables.positions import COPY, CommitStamp, Frontier, InputId, RefreshId, Version
from streamtables.positions import Sequence as CommitSequence
from streamtables.sources.files.choices import listed_now
from streamtables.sources.files.listing import Listing, difference
from streamtables.sources.files.taken import LastTake, forget_older, keep_listing, last_take

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamtables.engine.handles import Session
    from streamtables.engine.session import SparkSessions

_ATTEMPTS = 3
_TAKE = "take"


@dataclass(frozen=True)
class _Take:
    """One take that is about to happen."""

    listing: Listing
    files: tuple[str, ...]
    anew: str = ""
    """Why all files are read and not only new ones."""
    awaited: tuple[str, ...] = ()
    """Those that are new, or other ones than were taken."""


@dataclass
class FolderSources:
    """The folders of files of one warehouse."""

    catalog: Catalog
    sessions: SparkSessions
    warehouse: Warehouse
    clock: Callable[[], datetime]
    _known: dict[InputId, FileFolder] = field(default_factory=dict)
    _announced: dict[InputId, str] = field(default_factory=dict)

    def add(self, name: str, folder: FileFolder) -> Source:
        """Take all files of a folder; afterwards its mirror is a source like any other."""
        listing = listed_now(folder.folder, folder.pattern)
        if not listing and not folder.schema:
            raise ConfigError(
                f'the folder "{folder.folder}" holds no files to learn the columns from',
                hint="Put a file there, look at the pattern, or give the columns: "
                "schema='id BIGINT, city STRING'.",
            )
        source_id = new_id()
        mirror = Source(
            id=source_id,
            name=name,
            location=self.warehouse.inside("mirrors", f"{name}-{source_id[:8]}"),
            columns=(),
            delta_table_id="",
            added_at=self.clock(),
            kind="files",
        )
        folder = replace(folder, source_id=source_id)
        with self._removed_on_failure(mirror):
            with self.sessions.lease("bulk", tag=f"files {name}") as spark, _unreadable(name):
                columns = (
                    columns_of_text(spark, folder.schema)
                    if folder.schema
                    else columns_in(spark, _files(folder, tuple(listing)))
                )
                _refuse_columns(name, [column.name for column in columns])
                known = tuple(Column(c.name, c.type, c.nullable) for c in columns)
                mirror = replace(mirror, columns=known)
                take = _Take(listing, tuple(listing), "it was added")
                self._written(spark, mirror, folder, take, LastTake(None, CommitSequence(0), None))
            reach("copied")
            made = describe(mirror.location, self.sessions)
            shown = [c for c in made.columns if not c.name.startswith(RESERVED_PREFIX)]
            columns_here = tuple(Column(c.name, c.type, c.nullable) for c in shown)
            mirror = replace(mirror, columns=columns_here, delta_table_id=made.table_id)
            return self.catalog.add_file_folder(mirror, folder)

    def drop(self, source: Source) -> Source:
        """Forget a folder, and remove its mirror; the files stay as they are."""
        dropped = self.catalog.drop_source(source.id)
        remove_own_table(source.location, self.warehouse)
        return dropped

    def take(self, sources: Iterable[Source]) -> dict[InputId, StreamTablesError]:
        """Bring the mirrors of some sources to the present; return what went wrong, by source."""
        wanted = [source for source in sources if source.kind == "files"]
        if not wanted:
            return {}
        folders = self._folders(wanted)
        errors: dict[InputId, StreamTablesError] = {}
        for source in wanted:
            try:
                if source.id in folders:
                    self._brought(source, folders[source.id])
            except StreamTablesError as error:
                errors[source.id] = error
        return errors

    def waiting(self, sources: Sequence[Source]) -> Mapping[InputId, Version | None]:
        """Return the sources with something to take, and the version that a take would make.

        None is one whose folder cannot be read.  Nothing is taken, and Spark is not asked.
        """
        if not sources:
            return {}
        folders = self._folders(sources)
        found: dict[InputId, Version | None] = {}
        for source in sources:
            try:
                last = last_take(source)
                if source.id in folders and self._wanted(folders[source.id], last) is not None:
                    found[source.id] = Version((-1 if last.head is None else last.head) + 1)
            except StreamTablesError:
                # The refresh that needs the source fails on it, and says so.
                found[source.id] = None
        return found

    def waiting_since(self, source: Source) -> datetime | None:
        """Return when the oldest file that is not taken was written; None where all are."""
        folder = self._folders([source]).get(source.id)
        take = self._wanted(folder, last_take(source)) if folder is not None else None
        if take is None:
            return None
        written = [take.listing[name].modified_ns for name in take.awaited]
        # When a file went, nobody has written down.
        return datetime.fromtimestamp(min(written) / 1e9, UTC) if written else self.clock()

    def _folders(self, sources: Sequence[Source]) -> Mapping[InputId, FileFolder]:
        """Return the folders of sources; what is said of one never changes, so it is asked once."""
        if unknown := [source.id for source in sources if source.id not in self._known]:
            self._known = {**self._known, **self.catalog.file_folders(unknown)}
        return self._known

    def _brought(self, source: Source, folder: FileFolder) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            last = last_take(source)
            take = self._wanted(folder, last)
            if take is None:
                return
            if take.anew:
                self._announce(source, take.anew)
            try:
                with self.sessions.lease("bulk", tag=f"files {source.name}") as spark:
                    self._taken(spark, source, folder, take, last)
                return
            except CommitConflictError:
                # Another process took first; what is left to take is seen at the next look.
                if attempt == _ATTEMPTS:
                    raise

    def _wanted(self, folder: FileFolder, last: LastTake) -> _Take | None:
        """Return what there is to take, None for nothing."""
        now = files_in(folder.folder, folder.pattern)
        found = difference(last.listing or {}, now)
        awaited = (*found.new, *found.changed)
        if anew := last.lost or found.why_anew:
            return _Take(now, tuple(now), anew, awaited)
        return _Take(now, found.new, awaited=awaited) if found.new else None

    def _taken(
        self, spark: Session, source: Source, folder: FileFolder, take: _Take, last: LastTake
    ) -> None:
        with _unreadable(source.name):
            new = self._new_columns(spark, source, folder, take)
            learnt = replace(source, columns=(*source.columns, *new))
            stamp = self._written(spark, learnt, folder, take, last, new_columns=bool(new))
        reach("files-taken")
        if new:
            self.catalog.extend_source(learnt)
        forget_older(source, stamp.sequence)

    def _new_columns(
        self, spark: Session, source: Source, folder: FileFolder, take: _Take
    ) -> tuple[Column, ...]:
        """Return the columns of files that the source does not have yet.

        Those of a CSV file are compared with its header when it is read.
        """
        if folder.schema or folder.format == "csv" or not take.files:
            return ()
        known = {column.name.lower() for column in source.columns}
        there = columns_in(spark, _files(folder, take.files))
        new = [column for column in there if column.name.lower() not in known]
        _refuse_columns(source.name, [column.name for column in new])
        return tuple(Column(column.name, column.type, column.nullable) for column in new)

    def _written(
        self,
        spark: Session,
        source: Source,
        folder: FileFolder,
        take: _Take,
        last: LastTake,
        *,
        new_columns: bool = False,
    ) -> CommitStamp:
        stamp = CommitStamp(
            table_id=source.id,
            sequence=CommitSequence(last.sequence + 1),
            refresh_id=RefreshId(new_refresh_id()),
            frontier=Frontier.EMPTY,
            base_frontier=Frontier.EMPTY,
            mode=COPY if take.anew else _TAKE,
            query_hash="",
        )
        keep_listing(source, stamp, take.listing)
        reach("files-listed")
        columns = [(column.name, column.type) for column in source.columns]
        rows = read_files(spark, _files(folder, take.files), columns)
        if take.anew:
            done = spark_hand.overwrite(
                spark, rows, source.location, stamp, key_columns=None, known=last.head
            )
        else:
            done = spark_hand.append(
                spark,
                rows,
                source.location,
                stamp,
                key_columns=None,
                known=last.head,
                new_columns=new_columns,
            )
        if isinstance(done, Superseded):
            raise CommitConflictError(f'another process took the files of "{source.name}" first')
        if done.version is None:
            raise InternalError("a take of files made no commit")
        return stamp

    def _announce(self, source: Source, reason: str) -> None:
        """Tell that all files are read anew, once for each reason and not for each attempt."""
        if self._announced.get(source.id) == reason:
            return
        self._announced[source.id] = reason
        event = Event(self.clock(), "resnapshot", reason, source.id, source.name)
        self.catalog.record_events([event])

    @contextmanager
    def _removed_on_failure(self, mirror: Source) -> Iterator[None]:
        try:
            yield
        except BaseException:
            remove_own_table(mirror.location, self.warehouse)
            raise


def _files(folder: FileFolder, paths: tuple[str, ...]) -> FileSet:
    options = {name: str(value) for name, value in folder.options.items()}
    return FileSet(folder.folder, paths, folder.format, options)


def _refuse_columns(name: str, columns: Sequence[str]) -> None:
    """Refuse names that a Delta table cannot have, or that are ours."""
    for column in columns:
        if column.lower().startswith(RESERVED_PREFIX):
            raise SourceUnusableError(
                f'column "{column}" of the files of "{name}" has a name that is kept for this '
                "package",
                hint=f"Names that begin with {RESERVED_PREFIX} are taken.",
            )
        if bad := sorted(set(column) & set(" ,;{}()\n\t=")):
            raise SourceUnusableError(
                f'column "{column}" of the files of "{name}" has a name that Delta does not allow',
                detail=f"It has {', '.join(map(repr, bad))} in it.",
                hint="Name the columns by schema='…'; of CSV files with a header also give the "
                "option enforceSchema=true, which takes them by their places.",
            )


@contextmanager
def _unreadable(name: str) -> Iterator[None]:
    """Say whose files they are that Spark cannot read."""
    try:
        yield
    except (QueryFailedError, HistoryGoneError) as error:
        raise SourceUnusableError(
            f'the files of source "{name}" cannot be read',
            detail=error.detail,
            hint="Mend the file or take it away; nothing of it was taken, and it is tried again.",
        ) from error
