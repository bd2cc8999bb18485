"""Changes of several definitions, each compiled on top of those before it, before any is stored.

What the same step alters or drops later is not asked whether it still compiles over what comes
before it: its new definition answers for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from streamtables.catalog.changes_together import ChangesTogether, Created, Step
from streamtables.catalog.definition_rules import refuse_readers, refuse_taken_name
from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.library_changes import Recompiled
from streamtables.catalog.models import Alteration, Function, StreamTable, View
from streamtables.compiler import Plan
from streamtables.positions import InputId
from streamtables.refresh.altering.effect import Effect, effect_of
from streamtables.refresh.altering.readers import CarryOver, plan_before, with_table
from streamtables.refresh.define import (
    Choices,
    SparkReads,
    altered_query,
    compiled,
    define,
    was_read,
)
from streamtables.refresh.internal_tables import Internal, parts_of
from streamtables.refresh.redefine import redefined


@dataclass(frozen=True)
class AlterPlan:
    """What altering one table does: to its rows, and to those that read it."""

    name: str
    effect: Effect
    readers: tuple[tuple[str, Effect], ...] = ()
    """The stream tables that are carried over, each after those that it reads."""

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Say it: the table and what becomes of it, then each reader that is carried over."""
        return tuple((name, item.text) for name, item in ((self.name, self.effect), *self.readers))

    @property
    def carried(self) -> list[str]:
        """Say it of each reader."""
        return [f"carries over {name}: {effect.text}" for name, effect in self.readers]


@dataclass
class Staging:
    """Collects changes of one catalog; used once."""

    snapshot: CatalogSnapshot
    at: datetime
    spark_reads: SparkReads | None = None
    spared: set[InputId] = field(default_factory=set)
    dropped: list[InputId] = field(default_factory=list)
    plans: dict[InputId, Plan] = field(default_factory=dict)
    """The compiled queries of all tables that were created or altered by name."""
    definitions: Definitions = field(init=False)
    _steps: dict[InputId, Step] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.definitions = self.snapshot.definitions

    def spare(self, names: Iterable[str]) -> None:
        """Name tables and views that the same step alters or drops later."""
        found = [self.definitions.named(name) for name in names]
        self.spared.update(entry.id for entry in found if isinstance(entry, StreamTable | View))

    def create(self, name: str, query: str, choices: Choices, *, location: str) -> StreamTable:
        """Define a new table under a free name."""
        refuse_taken_name(self.definitions, name)
        made = define(
            name,
            query,
            choices,
            self.definitions,
            location=location,
            at=self.at,
            spark_reads=self.spark_reads,
        )
        self._keep(replace(made.table, inputs=made.inputs), made.plan, made.internal)
        self._steps[made.table.id] = Created(made.table, made.inputs, made.internal)
        return made.table

    def alter(self, name: str, choices: Choices, *, query: str | None = None) -> AlterPlan:
        """Give a table other choices, and another query where one is given.

        Raises:
            InUseError: what reads the table would no longer compile.
        """
        table = self.definitions.stream_table(name)
        text = table.query if query is None else query
        asked = was_read if text == table.query else self.spark_reads
        plan = compiled(
            text, self.definitions, mode=choices.mode, name=table.name, spark_reads=asked
        )
        filled = table.id in self.snapshot.standings
        effect = Effect("nothing", filled=filled)
        changes = _chosen(choices)
        if query is not None:
            effect = effect_of(plan_before(table, self.snapshot), plan, filled=filled)
            changes |= self._queried(table, query, plan, effect)
        altered = replace(table, **changes, altered_at=self.at)
        parts = parts_of(altered, plan, self.definitions)
        self._keep(replace(altered, inputs=parts.inputs), plan, parts.internal)
        standing = self.snapshot.standings.get(table.id)
        stored_hash = standing.query_hash if standing is not None else ""
        self._steps[table.id] = Recompiled(
            table.id, changes, parts.inputs, stored_hash=stored_hash, internal=parts.internal
        )
        return AlterPlan(table.name, effect, self._carry_over(table.id))

    def put(self, entry: View | Function) -> tuple[str, ...]:
        """Add or replace a view or function; return the tables whose rows become others.

        Raises:
            InUseError: what uses it would no longer compile.
        """
        self.spared.discard(entry.id)
        change = redefined(entry, self.definitions, self.spared)
        self._steps[entry.id] = change
        moved = []
        for item in change.tables:
            table = self.definitions.stream_tables[item.table_id]
            now = replace(table, **item.changes, inputs=item.inputs)
            if now.defining_query_hash != table.defining_query_hash:
                moved.append(table.name)
            self.definitions = with_table(self.definitions, now)
        for found in (change.entry, *change.users):
            self.definitions = _with_entry(self.definitions, found)
        return tuple(moved)

    def drop(self, name: str) -> None:
        """Drop a table that nothing reads but what is dropped too."""
        table = self.definitions.stream_table(name)
        if table.id not in self.dropped:
            self.dropped.append(table.id)

    def result(self) -> ChangesTogether:
        """Return all changes, once the last is known.

        Raises:
            InUseError: a table is to go that another one reads.
        """
        for table_id in self.dropped:
            readers = [
                reader
                for reader in self.definitions.dependants(table_id)
                if not {reader.id, reader.owner_id} & set(self.dropped)
            ]
            shown = f'the stream table "{self.definitions.stream_tables[table_id].name}"'
            refuse_readers(shown, readers, "Drop or alter these too.")
        steps = tuple(self._steps.values())
        return ChangesTogether(self.snapshot.generation, steps, tuple(self.dropped))

    def _queried(self, table: StreamTable, query: str, plan: Plan, effect: Effect) -> Alteration:
        changes = altered_query(query, plan, self.definitions)
        if effect.kind == "nothing":
            # The stored rows are those of the new text too, and columns may be better known.
            changes["defining_query_hash"] = table.defining_query_hash
            changes["columns"] = table.columns
        elif not plan.output:
            # Only Spark can tell the columns; until it has, readers find those of before.
            changes["columns"] = table.columns
        return changes

    def _carry_over(self, table_id: InputId) -> tuple[tuple[str, Effect], ...]:
        over = CarryOver(self.snapshot, self.definitions, frozenset(self.spared - {table_id}))
        over.run(table_id)
        over.require_whole(self.definitions.stream_tables[table_id].name)
        self.definitions = over.after
        for item in over.carried:
            self._steps[item.restated.table_id] = item.restated
        return tuple((item.name, item.effect) for item in over.carried)

    def _keep(self, table: StreamTable, plan: Plan, internal: Sequence[Internal]) -> None:
        self.spared.discard(table.id)
        self.plans[table.id] = plan
        for item, inputs in internal:
            self.definitions = with_table(self.definitions, replace(item, inputs=inputs))
        self.definitions = with_table(self.definitions, table)


def _with_entry(definitions: Definitions, entry: View | Function) -> Definitions:
    if isinstance(entry, View):
        return replace(definitions, views={**definitions.views, entry.id: entry})
    return replace(definitions, functions={**definitions.functions, entry.id: entry})


def _chosen(choices: Choices) -> Alteration:
    return {
        "schedule": choices.schedule,
        "mode": choices.mode,
        "full_policy": choices.full,
        "tier": choices.tier,
        "options": dict(choices.options or {}),
    }
