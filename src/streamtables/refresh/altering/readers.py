"""What becomes of everything that reads a table whose columns change.

Each reader, directly or through others, is compiled over the columns that will be there.  One whose
own rows mean the same is left alone; one whose rows become others is carried over: it is defined
anew in the same step, with the reason.  One that would no longer compile is named, and nothing
happens.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.library_changes import Recompiled
from streamtables.catalog.models import StreamTable, View
from streamtables.compiler import Plan
from streamtables.compiler.meaning import meaning_of
from streamtables.errors import InUseError, UserError
from streamtables.positions import InputId
from streamtables.refresh.altering.effect import Effect, effect_of
from streamtables.refresh.define import altered_query, analysed, compiled, was_read
from streamtables.refresh.internal_tables import parts_of
from streamtables.refresh.plan_cache.basis import InputBasis
from streamtables.refresh.plans import query_hash


@dataclass(frozen=True)
class Carried:
    """A reader that is defined anew because of what it reads."""

    name: str
    effect: Effect
    restated: Recompiled


@dataclass
class CarryOver:
    """Takes readers along; used for one change."""

    before: CatalogSnapshot
    after: Definitions
    """Everything as it becomes; readers that are carried over join it."""
    spared: Collection[InputId]
    """What is altered or dropped later in the same step, and answers for all that uses it."""
    carried: list[Carried] = field(default_factory=list)
    broken: list[tuple[StreamTable | View, UserError]] = field(default_factory=list)
    """What would no longer compile, and why."""

    def run(self, table_id: InputId) -> None:
        """Take along all that reads a table."""
        moved = {table_id} if self._looks_different(table_id) else set()
        for reader in self.after.dependants(table_id) if moved else ():
            touched = moved.intersection(item.id for item in reader.inputs)
            # The owner of an internal table reads all that it reads, and answers for it.
            if not touched or reader.is_internal or self._is_spared(reader):
                continue
            if self._take(reader, table_id) and self._looks_different(reader.id):
                moved.add(reader.id)
        for view in self.after.views.values():
            if moved.intersection(view.uses) and not self._is_spared(view):
                self._check_view(view)

    def _is_spared(self, reader: StreamTable | View) -> bool:
        return any(item in self.spared for item in (reader.id, *reader.uses))

    def require_whole(self, table: str) -> None:
        """Raise, naming all of them, when some readers of a table would no longer compile."""
        if not self.broken:
            return
        listed = ", ".join(f'{_kind(item)} "{item.name}"' for item, _ in self.broken)
        first, error = self.broken[0]
        raise InUseError(
            f'stream table "{table}" cannot become this: {listed} would no longer compile',
            detail=f'"{first.name}": {error.code}: {error.message}.',
            hint="Alter or drop them too: apply does all of a folder together.",
        )

    def _looks_different(self, table_id: InputId) -> bool:
        """Whether readers of a table may compile to something else."""
        old = self.before.stream_tables.get(table_id)
        new = self.after.stream_tables[table_id]
        if old is None:
            return False
        tables = (InputBasis.of(old).table(), InputBasis.of(new).table())
        return tables[0] != tables[1] or old.mode != new.mode

    def _take(self, reader: StreamTable, source: InputId) -> bool:
        """Define a reader anew if its rows become others; say whether they do."""
        try:
            plan = compiled(
                reader.query,
                self.after,
                mode=reader.mode,
                name=reader.name,
                spark_reads=was_read,
            )
        except UserError as error:
            self.broken.append((reader, error))
            return False
        filled = reader.id in self.before.standings
        effect = effect_of(plan_before(reader, self.before), plan, filled=filled)
        if effect.kind == "nothing":
            return False
        name = self.after.stream_tables[source].name
        restated = _restated(reader, plan, self.after, f'"{name}", which it reads, was altered')
        self.carried.append(Carried(reader.name, effect, restated))
        self.after = with_table(
            self.after, replace(reader, **restated.changes, inputs=restated.inputs)
        )
        return True

    def _check_view(self, view: View) -> None:
        try:
            analysed(view.query, self.after, name=view.name)
        except UserError as error:
            self.broken.append((view, error))


def plan_before(table: StreamTable, before: CatalogSnapshot) -> Plan | None:
    """Return the plan of a table as it is defined now; None where it no longer compiles."""
    known = before.stream_tables.get(table.id)
    if known is None:
        return None
    try:
        return analysed(known.query, before.definitions, name=known.name, spark_reads=was_read)
    except UserError:
        return None


def with_table(definitions: Definitions, table: StreamTable) -> Definitions:
    """Return the definitions with a table put in, in the place of the one with its id."""
    return replace(definitions, stream_tables={**definitions.stream_tables, table.id: table})


def _restated(reader: StreamTable, plan: Plan, after: Definitions, reason: str) -> Recompiled:
    changes = altered_query(reader.query, plan, after)
    # The text is as it was; what it stands for is not, and the rows must follow that.
    changes["defining_query_hash"] = query_hash(repr(meaning_of(plan)), plan.used)
    parts = parts_of(replace(reader, **changes), plan, after)
    return Recompiled(reader.id, changes, parts.inputs, reason, internal=parts.internal)


def _kind(item: StreamTable | View) -> str:
    return "view" if isinstance(item, View) else "stream table"
