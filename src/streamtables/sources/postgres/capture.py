"""PostgreSQL tables as sources: added, drained, copied anew, dropped.

Adding one leaves nothing behind when it fails; dropping one leaves nothing behind at all.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any

from psycopg import Connection
from psycopg.errors import LockNotAvailable

from streamtables.catalog.captures import CapturedDatabase, Trace
from streamtables.catalog.models import (
    Capture,
    CaptureEvent,
    CaptureWish,
    Column,
    Source,
    new_id,
)
from streamtables.catalog.scheduler_models import Event
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import describe
from streamtables.engine.removal import remove_own_table
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import (
    AlreadyExistsError,
    SourceMissingError,
    SourceUnusableError,
    StreamTablesError,
    TransientError,
)
from streamtables.fail_points import reach
from streamtables.positions import InputId, Version
from streamtables.positions import Sequence as CommitSequence
from streamtables.sources.postgres import publication, triggers, wakeups
from streamtables.sources.postgres.copy_progress import (
    CopyProgress,
    Report,
    expected_rows,
    in_sight,
)
from streamtables.sources.postgres.copying import Copied, copy_table
from streamtables.sources.postgres.drain import Captive, DatabaseDrain, Workshop
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table, wholes_of
from streamtables.sources.postgres.leaving import left_behind, unreachable
from streamtables.sources.postgres.look import Lookout
from streamtables.sources.postgres.mirror import last_sequence
from streamtables.sources.postgres.moves import Mover, Ways
from streamtables.sources.postgres.requirements import (
    AllMissing,
    require_capturable,
    require_server,
    require_table,
)
from streamtables.sources.postgres.resting import Resting
from streamtables.sources.postgres.server import Server, drop_empty_schema
from streamtables.sources.postgres.shape import Shape
from streamtables.sources.postgres.trigger_rights import check_rights
from streamtables.sources.postgres.types import MirrorColumn, map_columns

_DATABASE = """
SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text || '/' ||
       (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())::text
"""


@dataclass(frozen=True)
class Drained:
    """What came of draining some databases."""

    errors: dict[InputId, StreamTablesError]
    quiet: bool
    """Whether nothing can have happened in any of them."""


@dataclass
class PostgresCapture:
    """The captured tables of one warehouse."""

    shop: Workshop
    warehouse: Warehouse
    copy: Callable[..., Copied] = copy_table
    _lookout: Lookout = field(default_factory=Lookout)
    _resting: Resting[InputId] = field(default_factory=Resting)
    """Tables whose copy failed after reading for long."""

    def add(
        self,
        name: str,
        address: str,
        table_name: str,
        *,
        wish: CaptureWish = "auto",
        overrides: Mapping[str, str] | None = None,
        report: Report | None = None,
    ) -> Source:
        """Capture a table and copy it; afterwards its mirror is a source like any other."""
        server = Server(address)
        server.require_reference()
        with _reached(server) as connection:
            require_server(connection, server)
            table = _described(connection, find_table(connection, table_name), table_name)
            database = _database(connection)
            ways = Ways.of(connection, self.shop.catalog.capture_tag(database))
            blocks = ways.blocks(connection, table) if wish == "wal" else ()
            require_table(table)
            columns = _all_checked(connection, table, wish, overrides, blocks)
            self._refuse_second(database, table, wholes_of(connection, table))
            source_id = new_id()
            mirror = Source(
                id=source_id,
                name=name,
                location=self.warehouse.inside("mirrors", f"{name}-{source_id[:8]}"),
                columns=tuple(map(_column, columns)),
                delta_table_id="",
                added_at=self.shop.clock(),
                key_columns=table.primary_key,
                kind="postgres",
            )
            capture = Capture(
                source_id=source_id,
                server=address,
                database=database,
                tag=source_id[:8],
                relation=table.oid,
                table_name=table.shown,
                wish=wish,
                mode="wal" if wish == "wal" else "triggers",
                moving_since=self._last_number(database),
                shape=Shape.of(table).to_json(),
                overrides=dict(overrides or {}),
            )
            with self._undone_on_failure(connection, mirror, capture):
                self._trace(capture)
                self._begin(connection, capture, table)
                copy = partial(
                    self._copied, server, table, columns, mirror, CommitSequence(0), head=None
                )
                if report is None:
                    copied = copy()
                else:
                    begin = _begin_of_copy(connection, table)
                    copied = in_sight(copy, report, begin, mirror.location)
                reach("copied")
                capture = replace(capture, shape=_shape(table, copied))
                made = replace(mirror, delta_table_id=describe(mirror.location).table_id)
                reason = f"captured by {capture.mode}"
                event = CaptureEvent(source_id, self.shop.clock(), "added", reason)
                self.shop.catalog.add_captured_source(made, capture, event)
        self._drained(self.shop.catalog.captured_databases()[database], [made])
        return made

    def drop(self, source: Source) -> Source:
        """Take down all that captures a source, and remove its mirror.

        Triggers that cannot be taken off now, and a catalog that refuses as the source is read,
        leave all as it was.  What a crash leaves on the server is found by the trace that is kept
        until the end.
        """
        capture = self.shop.catalog.captures()[source.id]
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(Server(capture.server).connected("setup"))
            except StreamTablesError as error:
                raise unreachable(source.name, error) from error
            with connection.transaction():
                self._take_off_triggers(connection, source, capture)
                self._trace(capture)
                dropped = self.shop.catalog.drop_source(source.id)
            self._end(connection, capture)
            self.shop.catalog.clear_trace(capture.tag)
        remove_own_table(source.location, self.warehouse)
        return dropped

    def forget(self, source: Source) -> Source:
        """Forget a source and remove its mirror; its server is not asked, and stays as it is."""
        dropped = self.shop.catalog.drop_source(source.id)
        remove_own_table(source.location, self.warehouse)
        return dropped

    def left_behind(self, source: Source) -> tuple[str, ...]:
        """Return the statements that take off a server what captures a source."""
        for known in self.shop.catalog.captured_databases().values():
            for capture in known.captures:
                if capture.source_id == source.id:
                    return left_behind(known, capture)
        return ()

    def drain(self, sources: Iterable[Source]) -> dict[InputId, StreamTablesError]:
        """Bring the mirrors of some sources to the present; return what went wrong, by source."""
        wanted = [source for source in sources if source.kind == "postgres"]
        if not wanted:
            return {}
        return self.drain_known(self.shop.catalog.captured_databases().values(), wanted).errors

    def drain_known(
        self, databases: Iterable[CapturedDatabase], wanted: Sequence[Source]
    ) -> Drained:
        """Bring mirrors to the present, of databases as they were known at some moment.

        What is no longer so is noticed: a database is quiet only if its mirrors stand where the
        drain that is known left them.
        """
        errors: dict[InputId, StreamTablesError] = {}
        quiet = True
        for known in databases:
            here = {capture.source_id for capture in known.captures}
            mirrors = [source for source in wanted if source.id in here]
            try:
                if mirrors:
                    drain = self._drained(known, mirrors)
                    errors |= drain.errors
                    quiet = quiet and drain.seen is None
            except StreamTablesError as error:
                errors |= {source.id: error for source in mirrors}
        return Drained(errors, quiet and not errors)

    def looks_quiet(self, database: str) -> bool:
        """Whether nothing can have happened to captured tables since their last recorded drain."""
        known = self.shop.catalog.captured_databases()[database]
        mirrors = [captive.source for captive in self._captives(database)]
        with _server(known).connected("look") as connection:
            return self._lookout.is_quiet(connection, known, mirrors)

    def pins(self) -> dict[InputId, Version]:
        """Return the version of every mirror that the last recorded drain of its database names."""
        drains = self.shop.catalog.last_drains().values()
        return {key: version for drain in drains for key, version in drain.versions.items()}

    def pinned(self, source: Source, pins: Mapping[InputId, Version] | None = None) -> Version:
        """Return the version of a mirror that the last recorded drain names.

        Mirrors that are read together need the same `pins`: another process may record the next
        drain between two questions.
        """
        version = (self.pins() if pins is None else pins).get(source.id)
        if version is None:
            raise SourceMissingError(
                f'the mirror of source "{source.name}" has not been drained yet',
                hint="Refresh again when its server answers.",
            )
        return version

    def _drained(self, known: CapturedDatabase, mirrors: Sequence[Source]) -> DatabaseDrain:
        drain = DatabaseDrain(
            known.name,
            _server(known),
            self.shop,
            lambda: self._captives(known.name),
            self._copied_anew,
            lambda connection: self._lookout.is_quiet(connection, known, mirrors),
            reads_log=known.reads_log,
        )
        done = drain.run()
        if done is not None and drain.seen is not None and not drain.errors:
            self._lookout.note(done, drain.seen)
        return drain

    def _captives(self, database: str) -> tuple[Captive, ...]:
        captures = self.shop.catalog.captures()
        sources = {source.id: source for source in self.shop.catalog.sources()}
        return tuple(
            Captive(sources[key], capture)
            for key, capture in captures.items()
            if capture.database == database and key in sources
        )

    def _copied_anew(self, captive: Captive, reason: str) -> Captive:
        """Capture and copy a table once more; the reason is kept until it has worked.

        A move that was on its way begins anew: it was prepared for the table as it was.
        """
        key, began = captive.source.id, perf_counter()
        if (known := self._resting.error_of(key)) is not None:
            raise known
        try:
            done = self._copied_now(captive, reason)
        except TransientError:
            # It passes by itself, and the whole drain waits for it.
            raise
        except StreamTablesError as error:
            self._resting.failed(key, error, perf_counter() - began)
            raise
        self._resting.worked(key)
        return done

    def _copied_now(self, captive: Captive, reason: str) -> Captive:
        capture = replace(captive.capture, copy_reason=reason, moving_to=None)
        self._note(capture, "copying", reason)
        source = captive.source
        event = Event(self.shop.clock(), "resnapshot", reason, source.id, source.name)
        self.shop.catalog.record_events([event])
        server = Server(capture.server)
        with server.connected("setup") as connection:
            table = _described(connection, capture.relation, capture.table_name)
            columns = map_columns(table, {k: str(v) for k, v in capture.overrides.items()})
            require_capturable(connection, table)
            triggers.remove(connection, capture.tag)
            self._begin(connection, capture, table)
            mirror = replace(captive.source, key_columns=table.primary_key)
            head = DeltaLog(mirror.location).head()
            copied = self._copied(server, table, columns, mirror, last_sequence(mirror), head=head)
            reach("copied")
        capture = replace(
            capture,
            relation=table.oid,
            table_name=table.shown,
            shape=_shape(table, copied),
            copy_reason="",
        )
        self._note(capture, "copied", reason)
        return Captive(self._learnt(captive.source, table, columns), capture)

    def _learnt(self, known: Source, table: PgTable, columns: tuple[MirrorColumn, ...]) -> Source:
        """Return a source with the key and the new columns of its table.

        Columns that are gone or have another type stay as they are known: those who read them
        have to notice.
        """
        names = {column.name.lower() for column in known.columns}
        new = tuple(_column(column) for column in columns if column.name.lower() not in names)
        learnt = replace(known, columns=(*known.columns, *new), key_columns=table.primary_key)
        if learnt.key_columns != known.key_columns:
            reason = f'the primary key of source "{known.name}" is another one'
            return self.shop.catalog.update_source(learnt, rebuild=reason, at=self.shop.clock())
        return self.shop.catalog.extend_source(learnt) if new else known

    def _begin(self, connection: Connection[Any], capture: Capture, table: PgTable) -> None:
        """Capture a table in the way that its capture says."""
        if capture.mode == "wal":
            self._mover(connection, capture.database).begin_wal(table)
        else:
            triggers.install(connection, table, capture.tag)

    def _take_off_triggers(
        self, connection: Connection[Any], source: Source, capture: Capture
    ) -> None:
        try:
            triggers.remove(connection, capture.tag)
        except LockNotAvailable as error:
            raise TransientError(
                f'source "{source.name}" cannot be dropped now: {capture.table_name} is in use',
                detail="Taking triggers off waits for every transaction that has read the table.",
                hint="Nothing was dropped: try again when they have ended. SELECT pid, xact_start, "
                "query FROM pg_stat_activity ORDER BY xact_start shows them.",
            ) from error

    def _end(self, connection: Connection[Any], capture: Capture) -> None:
        """Take down all that captures a table, whichever way it is or was captured."""
        triggers.remove(connection, capture.tag)
        connection.execute(wakeups.removal(capture.tag))
        drop_empty_schema(connection)
        mover = self._mover(connection, capture.database)
        if mover.ways.slot.exists or publication.exists(connection, mover.ways.name):
            others = [
                other
                for other in self.shop.catalog.captures().values()
                if other.database == capture.database and other.source_id != capture.source_id
            ]
            used = any("wal" in (other.mode, other.moving_to) for other in others)
            mover.end_wal(describe_table(connection, capture.relation), others=used)

    def _mover(self, connection: Connection[Any], database: str) -> Mover:
        shop = self.shop
        ways = Ways.of(connection, shop.catalog.capture_tag(database))
        last = shop.catalog.last_drain(database)
        return Mover(connection, shop.catalog, shop.settings, ways, last, shop.clock())

    def _last_number(self, database: str) -> int:
        last = self.shop.catalog.last_drain(database)
        return last.number if last else 0

    def _copied(
        self,
        server: Server,
        table: PgTable,
        columns: tuple[MirrorColumn, ...],
        mirror: Source,
        sequence: CommitSequence,
        *,
        head: Version | None,
    ) -> Copied:
        return self.copy(
            server,
            table,
            columns,
            mirror,
            sequence,
            head=head,
            parts=self.shop.settings.snapshot_parts,
            sessions=self.shop.sessions,
        )

    def _note(self, capture: Capture, kind: str, reason: str) -> None:
        event = CaptureEvent(capture.source_id, self.shop.clock(), kind, reason)
        self.shop.catalog.move_capture(capture, event)

    def _refuse_second(self, database: str, table: PgTable, wholes: Container[int]) -> None:
        parts = {partition.oid for partition in table.partitions}
        for capture in self.shop.catalog.captures().values():
            if capture.database != database:
                continue
            name = self.shop.catalog.source(capture.source_id).name
            if capture.relation in wholes or capture.relation in parts:
                # The log tells a change of a partition once: as one of the whole.
                raise AlreadyExistsError(
                    f"rows of the table {table.shown} are captured already, by the source "
                    f'"{name}" of {capture.table_name}',
                    detail="A whole and a part of it cannot both be followed in one log.",
                    hint="Read the whole with a WHERE, or drop that source first.",
                )
            if capture.relation == table.oid:
                raise AlreadyExistsError(
                    f'the table {table.shown} is captured already, as the source "{name}"',
                    hint=f'Use the source "{name}"; any number of stream tables may read it.',
                )

    @contextmanager
    def _undone_on_failure(
        self, connection: Connection[Any], mirror: Source, capture: Capture
    ) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if not connection.closed and not connection.broken:
                self._end(connection, capture)
                self.shop.catalog.clear_trace(capture.tag)
            remove_own_table(mirror.location, self.warehouse)
            raise

    def _trace(self, capture: Capture) -> None:
        """Keep where something is about to be made or removed, in case this process dies."""
        self.shop.catalog.keep_trace(
            Trace(
                capture.tag,
                capture.server,
                capture.database,
                capture.table_name,
                self.shop.clock(),
            )
        )


@contextmanager
def _reached(server: Server) -> Iterator[Connection[Any]]:
    """Give a connection to a server that is asked for the first time.

    That it does not answer is then more likely a wrong address than something that passes.
    """
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(server.connected("setup"))
        except TransientError as error:
            raise SourceUnusableError(
                f"the PostgreSQL server {server.shown} cannot be reached",
                detail=error.detail,
                hint="Check host and port of the address, and that the server runs.",
            ) from error
        yield connection


def _all_checked(
    connection: Connection[Any],
    table: PgTable,
    wish: CaptureWish,
    overrides: Mapping[str, str] | None,
    blocks: tuple[str, ...],
) -> tuple[MirrorColumn, ...]:
    """Return the columns of a mirror, or say all that stands against it at once."""
    missing = AllMissing(table.shown)
    columns: tuple[MirrorColumn, ...] = ()
    with missing.check():
        columns = map_columns(table, overrides)
    with missing.check():
        require_capturable(connection, table, blocks)
    if wish != "wal":
        with missing.check():
            check_rights(connection, table)
    missing.refuse()
    return columns


def _described(connection: Connection[Any], oid: int, name: str) -> PgTable:
    return describe_table(connection, oid) or _made_again(connection, name)


def _made_again(connection: Connection[Any], name: str) -> PgTable:
    """Return the new table that has the name of one that is gone: that one is meant then."""
    try:
        table = describe_table(connection, find_table(connection, name))
    except SourceUnusableError:
        table = None
    if table is None:
        raise SourceMissingError(
            f"the PostgreSQL table {name} is gone",
            hint="Make it again under its name, or drop the source and what reads it.",
        )
    return table


def _shape(table: PgTable, copied: Copied) -> str:
    return Shape.of(table).with_files(copied.files).to_json()


def _begin_of_copy(connection: Connection[Any], table: PgTable) -> CopyProgress:
    return CopyProgress(table.shown, 0, expected_rows(connection, table), 0.0)


def _server(known: CapturedDatabase) -> Server:
    return Server(known.captures[0].server)


def _column(column: MirrorColumn) -> Column:
    # In the spelling of the Delta log, with which it is compared.
    return Column(column.name, column.spark_type.lower(), not column.pg.not_null)


def _database(connection: Connection[Any]) -> str:
    row = connection.execute(_DATABASE).fetchone()
    assert row is not None
    return str(row[0])
