"""A round: one set of pins, and the refreshes that move tables to them.

Every table is refreshed after the tables it reads, and reads the versions that they produced at
these pins.  Where an ancestor fails or moved elsewhere, its readers stay where they are; nothing is
mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Column, Input, StreamTable, new_refresh_id
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import describe
from streamtables.errors import PausedError, TableDamagedError
from streamtables.fail_points import reach
from streamtables.positions import (
    CLOCK,
    OF_NO_QUERY,
    Frontier,
    InputId,
    Pins,
    Standing,
    Version,
)
from streamtables.refresh.adopt import Reconciled, reconciled
from streamtables.refresh.agreement import next_moment
from streamtables.refresh.altering.learned import carry_learned
from streamtables.refresh.library import require_registered
from streamtables.refresh.one import Fuse, RefreshOne, fault_of
from streamtables.refresh.owned import Owned
from streamtables.refresh.parts import expected_part
from streamtables.refresh.recording import CANCELLED, NOTHING_CHANGED, Recording
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.sighting import Sighting
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput
from streamtables.refresh.together import Part, Together
from streamtables.sources.changes import SharedChanges, Window

ATTEMPTS = 3
"""How often a refresh is tried when other processes commit in between."""


Work = Callable[[InputId], Refresh]
Runner = Callable[
    [Sequence[InputId], Mapping[InputId, Collection[InputId]], Work], Mapping[InputId, Refresh]
]
"""Does the work for some tables, each after those of its inputs that are among them."""


def one_by_one(
    tables: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]], work: Work
) -> Mapping[InputId, Refresh]:
    """Do the work in the order that is given."""
    return {table: work(table) for table in tables}


@dataclass
class Round:
    """One round over some tables, each listed after what it reads; used once."""

    around: Surroundings
    snapshot: CatalogSnapshot
    tables: tuple[StreamTable, ...]
    full: frozenset[InputId] = frozenset()
    runner: Runner = one_by_one
    scopes: Callable[[StreamTable], Sequence[str]] = lambda _: ()
    """The pauses that concern each table; by hand only its own does."""
    fuse: Fuse | None = None
    """Looks at the size of each change; who refreshes by hand has looked."""
    standings: dict[InputId, Standing] = field(default_factory=dict)
    unmoved: dict[InputId, str] = field(default_factory=dict)
    done: Mapping[InputId, Refresh] = field(default_factory=dict)
    """What became of every table, internal ones included."""
    cancelled: set[InputId] = field(default_factory=set)
    """Tables whose refresh somebody stopped, and those that wait for them."""
    sighting: Sighting = field(init=False)
    changes: SharedChanges = field(init=False)
    together: Together | None = field(init=False, default=None)
    owned: Owned = field(init=False)

    def run(self) -> list[Refresh]:
        """Refresh all tables of the round, and keep what belongs together as an epoch."""
        self._look()
        self.owned = Owned(self.around)
        pins = self.sighting.pins()
        reach("pins-chosen")
        settings = self.around.settings
        self.changes = SharedChanges(
            settings.driver_rows_max,
            self._columns_read(),
            shared=settings.adaptive_batch_coalescing,
        )
        tables = {table.id: table for table in self.tables}
        inputs = {key: [item.id for item in table.inputs] for key, table in tables.items()}
        if settings.adaptive_batch_coalescing:
            self.together = Together(
                _readers_of_one(inputs),
                lambda key, window: self._expected(tables[key], pins, window),
            )
        try:
            done = self.done = self.runner(
                tuple(tables), inputs, lambda key: self._worked(tables[key], pins)
            )
        finally:
            # It knows the round, and whoever keeps the round would keep its rows.
            self.together = None
        # Nothing changed, nothing moved: the commonest refresh of all costs no more than that.
        if any(result.reason.code != NOTHING_CHANGED.code for result in done.values()):
            self.around.catalog.record_epoch(tables, self.around.clock())
        return [self.owned.told(tables[key], done[key]) for key in tables if self._is_told(key)]

    def _is_told(self, key: InputId) -> bool:
        """Whether a table answers for itself; an internal one is a part of its owner's answer."""
        return key in self.done and not self.snapshot.stream_tables[key].is_internal

    def _look(self) -> None:
        """See where every source of the round stands."""
        self.sighting = Sighting(self.around, self.snapshot, self.tables)
        self.sighting.look()
        self.snapshot, self.tables = self.sighting.snapshot, self.sighting.tables
        self.standings = dict(self.snapshot.standings)

    def _columns_read(self) -> dict[InputId, tuple[str, ...]]:
        read: dict[InputId, dict[str, None]] = {}
        for table in self.tables:
            for item in table.inputs:
                read.setdefault(item.id, {}).update(dict.fromkeys(item.columns))
        return {key: tuple(names) for key, names in read.items()}

    def _worked(self, table: StreamTable, pins: Pins) -> Refresh:
        result = self._refreshed(table, pins)
        self.owned.note(table, result)
        return result

    def _refreshed(self, table: StreamTable, pins: Pins) -> Refresh:
        """Refresh one table; when another process was first, go on from where it left the table."""
        for attempt in range(1, ATTEMPTS + 1):
            result, task = self._attempt(table, pins)
            if result.outcome != "superseded":
                return result
            standing = self.standings.get(table.id)
            if standing is not None and standing.base_frontier.covers(task.base_frontier):
                return result
            if attempt < ATTEMPTS:
                self.around.pause(attempt)
        return result

    def _attempt(self, table: StreamTable, pins: Pins) -> tuple[Refresh, Task]:
        watch = self.owned.watch(table)
        task = self._begun(table)
        self.unmoved.pop(table.id, None)
        try:
            if (blocked := self._blocked(table)) is None:
                task = self._task(task, pins)
                blocked = self._blocked(table)
        except Exception as error:
            fault = fault_of(table.name, error)
            self.unmoved[table.id] = fault.message
            return Recording(task, self.around, watch).failed(fault), task
        if blocked is not None:
            self.unmoved[table.id] = blocked.text
            self.cancelled |= {table.id} if blocked.code == CANCELLED else set()
            return Recording(task, self.around, watch).deferred(blocked), task
        scopes = self.scopes(table)
        result = RefreshOne(
            task, self.changes, self.around, watch, scopes, self.fuse, self.together
        ).run()
        self._note(table, task, result)
        return result, task

    def _begun(self, table: StreamTable) -> Task:
        return Task(
            table=table,
            definitions=self.snapshot.definitions,
            plan=self.around.plans.unread(table, self.snapshot.definitions),
            standing=self.standings.get(table.id),
            inputs=(),
            base_frontier=Frontier.EMPTY,
            refresh_id=new_refresh_id(),
        )

    def _expected(self, table: StreamTable, pins: Pins, window: Window) -> Part | None:
        """Return what a table that waits will compute of a window, as far as can be foreseen."""
        if table.state != "active" or table.id in self.full:
            return None
        if self.sighting.reads_clock(table) or any(
            i.id in self.sighting.broken for i in table.inputs
        ):
            return None
        inputs = tuple(self._input(item, pins) for item in table.inputs)
        task = replace(self._begun(table), inputs=inputs)
        return expected_part(task, window, self.changes, self.around)

    def _task(self, task: Task, pins: Pins) -> Task:
        """Fill in where the table stands and where it goes."""
        table = task.table
        self._check_state(table, full=table.id in self.full)
        require_registered(task.plan.facts, self.around.sessions.functions, table.name)
        for item in table.inputs:
            if item.id in self.sighting.broken:
                raise self.sighting.broken[item.id]
        found = self._reconciled(table)
        drifts = [
            (item, self.sighting.drift[item.id])
            for item in table.inputs
            if item.id in self.sighting.drift
        ]
        for item, drift in drifts:
            drift.check(table, item)
        base = self._base_frontier(table, pins)
        return replace(
            task,
            standing=found.standing if found else None,
            head=found.head if found else None,
            inputs=tuple(self._input(item, pins) for item in table.inputs),
            base_frontier=base or Frontier.EMPTY,
            clock=pins[CLOCK] if task.plan.facts.reads_clock else None,
            full=table.id in self.full,
            rebuild=self._rebuild(table),
            notes=tuple(text for _, drift in drifts for text in drift.remarks),
        )

    def _reconciled(self, table: StreamTable) -> Reconciled | None:
        known = self.standings.get(table.id)
        if table.id in self.full and table.state == "damaged":
            return _as_recorded(table, known)
        found = reconciled(table, known, self.around.catalog, self.around.clock())
        if found is not None:
            self.standings[table.id] = found.standing
        return found

    def _check_state(self, table: StreamTable, *, full: bool) -> None:
        if table.state == "paused":
            raise PausedError(
                f'stream table "{table.name}" is paused',
                hint=f'Run resume("{table.name}") first.',
            )
        if table.state == "damaged" and not full:
            raise TableDamagedError(
                f'stream table "{table.name}" is damaged',
                detail=f"Reason: {table.state_reason}.",
                hint=f'Run repair("{table.name}") to rebuild it.',
            )

    def _blocked(self, table: StreamTable) -> Reason | None:
        """Say why a table must wait: an input did not reach the pins."""
        if table.id in self.unmoved:
            return Reason("would-mix", self.unmoved[table.id])
        for item in table.inputs:
            if item.id in self.unmoved:
                name = self.snapshot.stream_tables[item.id].name
                code = CANCELLED if item.id in self.cancelled else "upstream"
                return Reason(code, f'"{name}" did not move: {self.unmoved[item.id]}')
            if self._is_altered(item):
                name = self.snapshot.stream_tables[item.id].name
                return Reason("upstream", f'"{name}" was altered and is not refreshed yet')
        return None

    def _is_altered(self, item: Input) -> bool:
        """Whether an input still has the rows of a query that is no longer its own."""
        standing = self.standings.get(item.id)
        if item.kind == "source" or standing is None:
            return False
        return standing.query_hash != self.snapshot.stream_tables[item.id].defining_query_hash

    def _base_frontier(self, table: StreamTable, pins: Pins) -> Frontier | None:
        upstream = [
            self.standings[item.id].base_frontier
            for item in table.inputs
            if item.kind == "stream-table" and item.id in self.standings
        ]
        direct = frozenset(item.id for item in table.inputs if item.kind == "source")
        direct |= {CLOCK} if self.sighting.reads_clock(table) else frozenset()
        standing = self.standings.get(table.id)
        found = next_moment(
            upstream,
            pins,
            direct=direct,
            mirrors=self.snapshot.definitions.mirrors,
            now=standing.base_frontier if standing else None,
        )
        if found is None:
            self.unmoved.setdefault(table.id, "its inputs stand for different moments")
        return found

    def _input(self, item: Input, pins: Pins) -> TaskInput:
        if item.kind == "source":
            source = self.snapshot.sources[item.id]
            rows = self.sighting.positions[item.id].description.rows
            return TaskInput(
                item.id, source.name, source.location, pins[item.id], item.columns, rows
            )
        upstream = self.snapshot.stream_tables[item.id]
        standing = self.standings.get(item.id)
        version = standing.version if standing else Version(-1)
        return TaskInput(item.id, upstream.name, upstream.location, version, item.columns)

    def _rebuild(self, table: StreamTable) -> str | None:
        if table.state == "needs-rebuild":
            return table.state_reason or None
        standing = self.standings.get(table.id)
        if standing is not None and standing.query_hash == OF_NO_QUERY:
            return "a table that it reads was made anew or restored while it was stopped"
        if standing is None or standing.query_hash != table.defining_query_hash:
            return None
        # An internal table that the query has only now: what it held when the rows were stored,
        # nobody can tell.
        new = any(item.id not in standing.frontier for item in table.inputs)
        return "its groups are stored apart from now on" if new else None

    def _note(self, table: StreamTable, task: Task, result: Refresh) -> None:
        """Remember where the table stands now, for its readers."""
        standing = self.around.catalog.standing(table.id)
        if result.outcome == "superseded":
            found = reconciled(table, standing, self.around.catalog, self.around.clock())
            standing = found.standing if found else None
        if standing is not None:
            self.standings[table.id] = standing
        if result.outcome in ("failed", "cancelled", "deferred"):
            self.unmoved[table.id] = result.error.message if result.error else result.reason.text
            self.cancelled |= {table.id} if result.outcome == "cancelled" else set()
        elif standing is None or standing.base_frontier != task.base_frontier:
            self.unmoved[table.id] = "another process moved it elsewhere"
        elif result.mode == "full" and result.outcome == "applied":
            self._settle(table, standing)
            # Where the compiler knows the columns, readers were carried over by the alter.
            if task.plan.facts.form is None and table.columns and carry_learned(table, self.around):
                self.unmoved[table.id] = "it has other columns now; its readers were defined anew"
        elif _is_settled(table, result):
            self._be_active(table)

    def _be_active(self, table: StreamTable) -> None:
        self.around.catalog.set_state(table.id, "active", "", at=self.around.clock())

    def _settle(self, table: StreamTable, standing: Standing) -> None:
        """After a full refresh: learn the columns that Spark gave, and be active again."""
        if table.state in ("needs-rebuild", "damaged", "suspended") or table.state_reason:
            self._be_active(table)
        described = describe(table.location)
        columns = tuple(
            Column(c.name, c.type, c.nullable)
            for c in described.columns
            if not c.name.startswith("__st_")
        )
        if columns != table.columns:
            made_by = table.defining_query_hash
            self.around.catalog.learn_columns(table.id, columns, query_hash=made_by)


def _readers_of_one(
    inputs: Mapping[InputId, Sequence[InputId]],
) -> Callable[[InputId], Sequence[InputId]]:
    """Return who gives the tables that read nothing but some input, in the order of the round."""
    found: dict[InputId, list[InputId]] = {}
    for key, read in inputs.items():
        if len(read) == 1:
            found.setdefault(read[0], []).append(key)
    return lambda input_id: found.get(input_id, ())


def _is_settled(table: StreamTable, result: Refresh) -> bool:
    """Whether what was said of the state of a table is over with a refresh."""
    if table.state == "needs-rebuild":
        # The rows were computed anew and are those that are stored.
        return result.outcome == "no-change"
    # A change that somebody has let through is through.
    return table.state == "active" and bool(table.state_reason)


def _as_recorded(table: StreamTable, known: Standing | None) -> Reconciled | None:
    """Return a damaged table as the catalog knows it: its rows are about to be replaced."""
    head = DeltaLog(table.location).head()
    return None if known is None or head is None else Reconciled(known, head)


def with_ancestors(
    snapshot: CatalogSnapshot, tables: Iterable[StreamTable]
) -> tuple[StreamTable, ...]:
    """Return the tables and all stream tables they stand on, each after what it reads."""
    wanted: set[InputId] = set()
    for table in tables:
        wanted.add(table.id)
        wanted.update(item.id for item in snapshot.definitions.ancestors(table.id))
    definitions = snapshot.definitions
    return tuple(definitions.stream_tables[key] for key in definitions.order if key in wanted)
