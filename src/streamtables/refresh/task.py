"""One table's move from its frontier to a target: everything a refresh is decided from."""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import StreamTable
from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.positions import (
    CLOCK,
    BaseFrontier,
    CommitStamp,
    Frontier,
    InputId,
    RefreshId,
    Sequence,
    Standing,
    Version,
)
from streamtables.refresh.plan_cache import KeptPlan
from streamtables.sources.changes import Window


@dataclass(frozen=True)
class TaskInput:
    """One table that the query reads: under which name, where it is, and its target version."""

    id: InputId
    name: str
    location: str
    version: Version
    columns: tuple[str, ...]
    rows: int | None = None


@dataclass(frozen=True)
class Task:
    """One refresh that is about to run."""

    table: StreamTable
    definitions: Definitions
    plan: KeptPlan
    standing: Standing | None
    inputs: tuple[TaskInput, ...]
    base_frontier: BaseFrontier
    refresh_id: RefreshId
    full: bool = False
    rebuild: str | None = None
    notes: tuple[str, ...] = ()
    clock: Version | None = None
    """The moment that the refresh stands for; None for a query that does not ask for it."""
    head: Version | None = None
    """The head of the table's own log: what is read and committed after."""

    @property
    def frontier(self) -> Frontier:
        """Where the refresh moves to."""
        versions = {item.id: item.version for item in self.inputs}
        return Frontier(versions if self.clock is None else {**versions, CLOCK: self.clock})

    @property
    def stored_version(self) -> Version:
        """The version of the table that holds the stored rows and that a commit must follow."""
        assert self.standing is not None
        return self.standing.version if self.head is None else self.head

    @property
    def sequence(self) -> Sequence:
        """The number of this refresh."""
        return Sequence(self.standing.sequence + 1 if self.standing else 1)

    @property
    def changed(self) -> tuple[TaskInput, ...]:
        """The inputs whose version moves, and whose changes lead on."""
        moved = {item.id for item in self.moved}
        return tuple(item for item in self.followed if item.id in moved)

    @property
    def moved(self) -> tuple[TaskInput, ...]:
        """The inputs whose version moves, those that full refreshes alone read among them."""
        if self.standing is None:
            return self.inputs
        consumed = self.standing.frontier
        return tuple(item for item in self.inputs if consumed.get(item.id) != item.version)

    @property
    def followed(self) -> tuple[TaskInput, ...]:
        """The inputs whose changes lead on; the others are read by full refreshes alone."""
        names = self.plan.facts.follows
        return self.inputs if names is None else tuple(i for i in self.inputs if i.name in names)

    @property
    def clock_moved(self) -> bool:
        """Whether time has passed for the query since the last refresh."""
        if self.clock is None or self.standing is None:
            return self.clock is not None
        return self.standing.frontier.get(CLOCK) != self.clock

    @property
    def changed_names(self) -> frozenset[str]:
        """What changed, under the names that the query's plan has for it."""
        names = {item.name for item in self.changed}
        return frozenset(names | {CLOCK_TABLE} if self.clock_moved else names)

    @property
    def query_changed(self) -> bool:
        """Whether the stored rows are those of another query."""
        standing = self.standing
        return standing is not None and standing.query_hash != self.table.defining_query_hash

    @property
    def may_follow(self) -> bool:
        """Whether changes can lead on from the stored rows, as far as is known before a look."""
        anew = self.standing is None or self.full or self.rebuild is not None or self.query_changed
        return not anew and self.plan.facts.incremental and self.table.mode != "full"

    def window(self, item: TaskInput) -> Window:
        """Return the versions of an input that this refresh consumes."""
        assert self.standing is not None
        return Window(item.id, item.location, self.standing.frontier[item.id], item.version)

    def stamp(self, mode: str) -> CommitStamp:
        """Return what rides in the commit."""
        return CommitStamp(
            table_id=self.table.id,
            sequence=self.sequence,
            refresh_id=self.refresh_id,
            frontier=self.frontier,
            base_frontier=self.base_frontier,
            mode=mode,
            query_hash=self.table.defining_query_hash,
        )
