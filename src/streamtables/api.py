"""Everything a person can ask for; the command line and the web call only this.

Reading never writes, and nothing starts Java until rows must move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, overload

from streamtables.applying import Applying
from streamtables.audit import Auditing, audited
from streamtables.backing_up import Backups
from streamtables.caches import Caches
from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import (
    RefreshRecord,
    StreamTable,
)
from streamtables.catalog.names import check_name
from streamtables.choices import checked_choices
from streamtables.engine.reading import read_rows, read_visible, run_sql
from streamtables.engine.removal import remove_own_table
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings, spark_settings_in
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    NotFoundError,
    WouldMixError,
)
from streamtables.explanation import Explanation, explain_query, explain_table
from streamtables.health import Health
from streamtables.monitoring import Monitoring
from streamtables.observe.observer import Observer
from streamtables.projects import Projects
from streamtables.proving import Proving
from streamtables.publications import Publishing
from streamtables.refresh.define import compiled, define
from streamtables.refresh.moments import one_moment
from streamtables.refresh.past_book import REMEMBERED
from streamtables.refresh.plans import Plans
from streamtables.refresh.recover import recover
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round, with_ancestors
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import stored_standing
from streamtables.scheduler.service import Scheduler
from streamtables.scheduler.status import TableStatus, statuses
from streamtables.scheduling import Scheduling
from streamtables.settings import Settings, load_settings
from streamtables.snapshots import Snapshotting
from streamtables.sources.delta import DeltaWatch
from streamtables.sources.files.folders import FolderSources
from streamtables.sources.postgres.capture import PostgresCapture
from streamtables.sources.postgres.drain import Workshop
from streamtables.sources.postgres.health import CaptureFinding, capture_findings
from streamtables.sources.postgres.status import CaptureStatus, capture_status
from streamtables.sourcing import Sourcing
from streamtables.statements import run_statement
from streamtables.upkeep import Tidying
from streamtables.visible_in_spark import visible_in
from streamtables.watching import Watching
from streamtables.writing import Writing

if TYPE_CHECKING:
    import pyarrow as pa

    from streamtables.engine.handles import Rows, Session

Clock = Callable[[], datetime]


def _catalog_in(place: Warehouse) -> str:
    """Return where the catalog is when none is named."""
    if place.uri is not None:
        raise ConfigError(
            f'the warehouse "{place.shown}" needs a catalog that is named',
            detail="A store cannot hold the file of a catalog, and all who use it share one.",
            hint='Name a database, or a file on a disk of this machine: catalog="postgresql://…", '
            "--catalog or STREAMTABLES_CATALOG.",
        )
    return str(default_location(place.home))


def _utc_now() -> datetime:
    return datetime.now(UTC)


@audited
class StreamTables(
    Applying,
    Auditing,
    Backups,
    Caches,
    Health,
    Monitoring,
    Projects,
    Proving,
    Publishing,
    Scheduling,
    Snapshotting,
    Sourcing,
    Tidying,
    Watching,
    Writing,
):
    """An open warehouse: its catalog, and Spark when it is needed."""

    def __init__(
        self,
        warehouse: str | Path,
        *,
        catalog: str | None = None,
        spark: Session | None = None,
        settings: Settings | None = None,
        clock: Clock = _utc_now,
    ) -> None:
        self.place = Warehouse.at(warehouse)
        self.settings = settings or load_settings(self.place.uri or self.place.home)
        self._catalog = Catalog.open(catalog or _catalog_in(self.place))
        observer = Observer.of(self.settings)
        self._catalog.heard = observer.happened
        sessions = SparkSessions(
            _spark_settings(self.settings), spark=spark, zone=self._catalog.time_zone
        )
        self._around = Surroundings(
            warehouse=self.place,
            catalog=self._catalog,
            sessions=sessions,
            settings=self.settings,
            clock=clock,
            watch=DeltaWatch(sessions),
            postgres=PostgresCapture(
                Workshop(self._catalog, sessions, self.settings, clock, observer), self.place
            ),
            folders=FolderSources(self._catalog, sessions, self.place, clock),
            plans=Plans.of(self._catalog, self.settings),
            observer=observer,
        )
        self._scheduler = Scheduler(self._around)
        recover(self._around)

    @property
    def warehouse(self) -> Path:
        """The folder of this machine that the warehouse is, or that stands for one in a store."""
        return self.place.home

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalog, and stop Spark if it was started here."""
        self._close_metrics()
        self._scheduler.close()
        self._around.sessions.stop()
        self._around.plans.close()
        self._around.observer.close()
        self._catalog.close()
        self._end_logs()

    @property
    def spark(self) -> Session:
        """The Spark session; made on first use."""
        return self._around.sessions.get()

    # Definitions

    def create(
        self,
        name: str,
        query: str,
        *,
        schedule: str = "manual",
        mode: str = "auto",
        full: str = "allow",
        tier: str = "hot",
        replace: bool = False,
        if_not_exists: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> StreamTable:
        """Define a stream table; its first refresh fills it."""
        check_name(name)
        choices = checked_choices(schedule, mode, full, tier, options)
        snapshot = self._catalog.snapshot()
        existing = snapshot.definitions.named(name)
        if existing is not None and not replace:
            if if_not_exists and isinstance(existing, StreamTable):
                return existing
            raise AlreadyExistsError(
                f'the name "{name}" is taken',
                hint="Choose another name, or replace it: replace=True, or --replace.",
            )
        if isinstance(existing, StreamTable) and not existing.is_internal:
            return self._replaced(existing.name, query, choices)
        definition = define(
            name,
            query,
            choices,
            snapshot.definitions,
            location=self._new_location(name),
            at=self._around.clock(),
            spark_reads=self._spark_reads,
        )
        created = self._catalog.create_stream_table(
            definition.table, definition.inputs, internal=definition.internal
        )
        self._tell_crossings(created, definition.plan)
        return created

    def drop(
        self, name: str, *, cascade: bool = False, if_exists: bool = False
    ) -> list[StreamTable]:
        """Drop a stream table and its rows; what others wrote stays."""
        try:
            table = self._catalog.stream_table(name)
        except NotFoundError:
            if if_exists:
                return []
            raise
        dropped = self._catalog.drop_stream_table(table.id, cascade=cascade)
        for item in dropped:
            remove_own_table(item.location, self.place)
        self._around.plans.forget(item.id for item in dropped)
        return [item for item in dropped if not item.is_internal]

    def sql(self, text: str) -> object:
        """Run a statement about stream tables; anything else goes to Spark."""
        return run_statement(self, text)

    def spark_sql(self, text: str) -> Rows:
        """Run a statement in Spark, in which all that is defined here can be read by its name."""
        return run_sql(self.spark, text, visible_in(text, self._catalog.snapshot()))

    # Refreshing

    def refresh(self, name: str, *, full: bool = False, upstream: bool = True) -> Refresh:
        """Bring a table, and what it stands on, to the sources as they are now."""
        snapshot = self._catalog.snapshot()
        table = snapshot.definitions.stream_table(name)
        internal = snapshot.definitions.internal_tables(table.id)
        tables = with_ancestors(snapshot, [table]) if upstream else (*internal, table)
        forced = frozenset({table.id} if full else ())
        results = Round(self._around, snapshot, tables, forced).run()
        for result in results:
            if result.error is not None:
                raise result.error
        answer = results[-1]
        if answer.outcome == "deferred" and not upstream:
            raise WouldMixError(
                f'stream table "{name}" cannot be refreshed alone',
                detail=f"Reason: {answer.reason.text}.",
                hint="Refresh it with upstream=True, or use refresh_all().",
            )
        return answer

    def refresh_all(self) -> list[Refresh]:
        """Refresh every table, in dependency order, on one set of pins."""
        snapshot = self._catalog.snapshot()
        tables = with_ancestors(snapshot, snapshot.stream_tables.values())
        owners = (snapshot.stream_tables[item.owner_id or item.id] for item in tables)
        paired = zip(tables, owners, strict=True)
        active = tuple(table for table, owner in paired if owner.state != "paused")
        return Round(self._around, snapshot, active).run()

    # Looking

    @overload
    def read(self, name: str, *, epoch: int | None = None) -> Rows: ...
    @overload
    def read(
        self, name: list[str] | tuple[str, ...], *, epoch: int | None = None
    ) -> dict[str, Rows]: ...
    def read(
        self, name: str | list[str] | tuple[str, ...], *, epoch: int | None = None
    ) -> Rows | dict[str, Rows]:
        """Return a table's rows without hidden columns, as of its last refresh.

        Several names give a dict of tables that all stand for one moment: as they are now, or, if
        that would mix, as they were at the last epoch at which all agree.  `epoch` names one.
        """
        names = [name] if isinstance(name, str) else list(name)
        snapshot = self._catalog.snapshot()
        tables = [snapshot.definitions.stream_table(item) for item in names]
        if epoch is None:
            snapshot = self._settled(tables, snapshot)
        moment = one_moment(tables, snapshot, self._around, epoch)
        rows = {
            item: read_visible(self.spark, table.location, moment.versions[table.id])
            for item, table in zip(names, tables, strict=True)
        }
        return rows[name] if isinstance(name, str) else rows

    def epoch(self) -> int:
        """Return the number of the last epoch; 0 before the first refresh."""
        return self._catalog.last_epoch()

    def read_rows(self, name: str, limit: int = 20) -> pa.Table:
        """Return the first rows of a table as Arrow, without starting Spark."""
        snapshot = self._catalog.snapshot()
        table = snapshot.definitions.stream_table(name)
        standing = stored_standing(table, snapshot, self._around)
        return read_rows(table.location, standing.version, limit)

    def explain(self, name: str) -> Explanation:
        """Say how a table is maintained and why so, and what its last refreshes took."""
        snapshot = self._catalog.snapshot()
        table = snapshot.definitions.stream_table(name)
        return explain_table(
            self._around.plans.plan(table, snapshot.definitions).tree,
            table,
            snapshot.definitions,
            self._around.limits,
            self._catalog.history(table.id, REMEMBERED),
        )

    def validate(self, query: str) -> Explanation:
        """Say the same before anything is created."""
        definitions = self._catalog.snapshot().definitions
        return explain_query(compiled(query, definitions), definitions, self._around.limits)

    def history(self, name: str, limit: int = 100) -> list[RefreshRecord]:
        """Return the last refreshes of a table, newest first."""
        return list(self._catalog.history(self._catalog.stream_table(name).id, limit))

    def status(self) -> list[TableStatus]:
        """Return where every stream table stands."""
        snapshot = self._catalog.snapshot()
        tables = snapshot.definitions.stream_tables.values()
        return statuses([t for t in tables if not t.is_internal], snapshot, self._around)

    def wal_source_status(self) -> list[CaptureStatus]:
        """Return how every PostgreSQL source is captured, and how far behind it is."""
        return capture_status(self._catalog, self._around.clock())

    def capture_findings(self) -> list[CaptureFinding]:
        """Return what is wrong, or worth knowing, on the PostgreSQL servers that are captured."""
        return capture_findings(self._catalog)

    def stream_tables(self) -> list[StreamTable]:
        """Return the definitions of all stream tables, by name."""
        return list(self._catalog.stream_tables())


def connect(
    warehouse: str | Path,
    *,
    catalog: str | None = None,
    spark: Session | None = None,
    settings: Settings | None = None,
) -> StreamTables:
    """Open a warehouse: a folder with a SQLite catalog in it, unless `catalog` names a database."""
    return StreamTables(warehouse, catalog=catalog, spark=spark, settings=settings)


def _spark_settings(settings: Settings) -> SparkSettings:
    return SparkSettings(
        jars_dir=settings.jars_dir,
        master=settings.spark_master,
        driver_memory=settings.spark_driver_memory,
        shuffle_partitions_quick=settings.shuffle_partitions_quick,
        extra=spark_settings_in(settings.spark_conf),
    )
