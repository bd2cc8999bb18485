"""What a write does to each table, computed before anything is committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Input, Source, StreamTable, new_refresh_id
from streamtables.engine import arrow_rows
from streamtables.engine.ahead import Ahead
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import TableVersion
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import NotSmall
from streamtables.errors import CommitConflictError, ConfigError
from streamtables.positions import Frontier, InputId, Version
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.small_way import SmallRefresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.stored_columns import OtherColumns
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput


@dataclass(frozen=True)
class Prepared:
    """The change of one table, ready to be committed."""

    task: Task
    signed: pa.Table
    """The stored columns and `__st_weight`."""
    rows_in: int
    watch: Stopwatch

    @property
    def table(self) -> StreamTable:
        """The table that changes."""
        return self.task.table


@dataclass
class Preparing:
    """Computes what a change of a source does to the tables that follow it at once."""

    around: Surroundings
    snapshot: CatalogSnapshot
    source: Source
    ahead: dict[InputId, Ahead]
    """What is not committed yet: the source's change, then that of each table."""

    def prepare(self, table: StreamTable) -> Prepared:
        """Compute the change of one table; its inputs are prepared already."""
        watch = Stopwatch()
        task = self._task(table)
        changes = {item.name: self._changes(item) for item in task.inputs if item.id in self.ahead}
        names = {item.name: self.ahead[item.id] for item in task.inputs if item.id in self.ahead}
        rows_in = sum(rows.num_rows for rows in changes.values())
        refresh = SmallRefresh(task, changes, self.around, watch, ahead=names)
        try:
            signed = refresh.change() if rows_in else _nothing(table)
        except OtherColumns as lacking:
            now = self.around.clock()
            self.around.catalog.set_state(table.id, "needs-rebuild", lacking.reason, at=now)
            raise CommitConflictError(f'"{table.name}" is filled anew first') from lacking
        except NotSmall as declined:
            raise ConfigError(
                f'the write changes more of "{table.name}" than one step carries',
                detail=f"Reason: {declined.reason}.",
                hint="Nothing was written. Write fewer rows at a time, or raise driver_rows_max.",
            ) from declined
        visible = [column.name for column in table.columns]
        shown = arrow_rows.net(for_spark(signed.select([*visible, WEIGHT])), visible)
        at = TableVersion(table.location, task.stored_version)
        self.ahead[table.id] = Ahead(at, shown, table.key_columns)
        return Prepared(task, signed, rows_in, watch)

    def _changes(self, item: TaskInput) -> pa.Table:
        signed = self.ahead[item.id].signed
        return arrow_rows.net(signed.select([*item.columns, WEIGHT]), item.columns)

    def _task(self, table: StreamTable) -> Task:
        definitions = self.snapshot.definitions
        known = self.snapshot.standings.get(table.id)
        found = reconciled(table, known, self.around.catalog, self.around.clock())
        assert found is not None
        frontier = found.standing.frontier
        return Task(
            table=table,
            definitions=definitions,
            plan=self.around.plans.plan(table, definitions),
            standing=found.standing,
            head=found.head,
            inputs=tuple(self._input(item, frontier) for item in table.inputs),
            base_frontier=found.standing.base_frontier,
            refresh_id=new_refresh_id(),
        )

    def _input(self, item: Input, frontier: Frontier) -> TaskInput:
        """Return an input; one that changes has a version that nobody can have seen yet."""
        entry = self.snapshot.sources.get(item.id) or self.snapshot.stream_tables[item.id]
        seen = frontier[item.id]
        version = Version(seen + 1) if item.id in self.ahead else seen
        return TaskInput(item.id, entry.name, entry.location, version, item.columns)


def moved_to(task: Task, versions: Mapping[InputId, Version], source: InputId) -> Task:
    """Return a task that moves to the versions that its inputs really got."""
    inputs = tuple(
        replace(item, version=versions.get(item.id, item.version)) for item in task.inputs
    )
    base = task.base_frontier.with_version(source, versions[source])
    return replace(task, inputs=inputs, base_frontier=base)


def _nothing(table: StreamTable) -> pa.Table:
    fields = [pa.field(column.name, pa.null()) for column in table.columns]
    return pa.schema([*fields, pa.field(WEIGHT, pa.int64())]).empty_table()
