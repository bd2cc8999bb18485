"""Altering: the part of the interface that changes definitions under their readers.

Whatever a change does to other tables is found out before anything is stored, and stored with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from streamtables.catalog import Catalog
from streamtables.catalog.changes_together import StoredTogether
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable, new_id
from streamtables.choices import checked_choices
from streamtables.compiler import Plan
from streamtables.compiler.backend.statement import view_name
from streamtables.compiler.types import SqlType
from streamtables.engine.reading_sql import spark_reads
from streamtables.engine.removal import remove_own_table
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import CommitConflictError
from streamtables.refresh.altering.staging import AlterPlan, Staging
from streamtables.refresh.crossings import record_crossings
from streamtables.refresh.define import Choices
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.options import altered_options

ATTEMPTS = 5
"""How often a change is made anew when another process changed a definition meanwhile."""

T = TypeVar("T")


class Altering:
    """The methods of an open warehouse that alter stream tables."""

    place: Warehouse
    _catalog: Catalog
    _around: Surroundings

    def alter(
        self,
        name: str,
        *,
        query: str | None = None,
        schedule: str | None = None,
        mode: str | None = None,
        full: str | None = None,
        tier: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> StreamTable:
        """Change parts of a definition; rows of another query come with the next refresh.

        Until then readers find the old rows.  A query that means the same touches none.
        """
        chosen = (schedule, mode, full, tier, options)
        _, stored = self._stored_together(lambda work: _alter(work, name, query, *chosen))
        return _named(stored, name)

    def plan_alter(
        self,
        name: str,
        *,
        query: str | None = None,
        schedule: str | None = None,
        mode: str | None = None,
        full: str | None = None,
        tier: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> AlterPlan:
        """Say what `alter` would do to the table and to its readers; nothing changes."""
        work = self._staging(self._catalog.snapshot())
        return _alter(work, name, query, schedule, mode, full, tier, options)

    def _replaced(self, name: str, query: str, choices: Choices) -> StreamTable:
        """Give a table that is there another query and all choices anew."""
        _, stored = self._stored_together(lambda work: work.alter(name, choices, query=query))
        return _named(stored, name)

    def _new_location(self, name: str) -> str:
        return self.place.inside("tables", f"{name}-{new_id()[:8]}")

    def _staging(self, snapshot: CatalogSnapshot) -> Staging:
        return Staging(snapshot, self._around.clock(), self._spark_reads)

    def _spark_reads(self, plan: Plan) -> bool:
        known = self._catalog.snapshot().definitions
        views = {}
        for table in plan.tables:
            entry, columns = known.named(table), plan.schema[table].columns
            if isinstance(entry, Source | StreamTable):
                # As Spark spells the types; a table of the same step is not stored yet.
                columns = tuple((item.name, SqlType(item.type)) for item in entry.columns)
            views[view_name(table, "after")] = columns
        return spark_reads(plan.query_program().sql, views, self._around.sessions)

    def _stored_together(self, change: Callable[[Staging], T]) -> tuple[T, StoredTogether]:
        """Store what is made from the definitions as they are; make it anew when they moved."""
        for attempt in range(1, ATTEMPTS + 1):
            work = self._staging(self._catalog.snapshot())
            answer = change(work)
            try:
                stored = self._catalog.change_together(work.result(), at=work.at)
            except CommitConflictError:
                if attempt == ATTEMPTS:
                    raise
                self._around.pause(attempt)
                continue
            self._follow_up(work, stored)
            return answer, stored
        raise AssertionError("the last attempt ends in an answer or an error")

    def _follow_up(self, work: Staging, stored: StoredTogether) -> None:
        for table in stored.tables:
            if (plan := work.plans.get(table.id)) is not None:
                self._tell_crossings(table, plan)
        gone = {table.id: table for table in (*stored.gone, *self._left(work.snapshot))}
        for table in gone.values():
            remove_own_table(table.location, self.place)
        if gone:
            self._around.plans.forget(gone)

    def _left(self, before: CatalogSnapshot) -> list[StreamTable]:
        """Return the internal tables that their owners no longer have."""
        internal = [table for table in before.stream_tables.values() if table.is_internal]
        now = self._catalog.snapshot().stream_tables if internal else {}
        return [table for table in internal if table.id not in now]

    def _tell_crossings(self, table: StreamTable, plan: Plan) -> None:
        around = self._around
        for refusal in plan.refusals[:1]:
            around.observer.refused(refusal.code)
        record_crossings(self._catalog, table, plan, around.limits, around.clock())


def _alter(
    work: Staging,
    name: str,
    query: str | None,
    schedule: str | None,
    mode: str | None,
    full: str | None,
    tier: str | None,
    options: Mapping[str, Any] | None,
) -> AlterPlan:
    table = work.definitions.stream_table(name)
    choices = checked_choices(
        table.schedule if schedule is None else schedule,
        table.mode if mode is None else mode,
        table.full_policy if full is None else full,
        table.tier if tier is None else tier,
        altered_options(table.options, options or {}),
    )
    return work.alter(name, choices, query=query)


def _named(stored: StoredTogether, name: str) -> StreamTable:
    wanted = name.lower()
    return next(table for table in stored.tables if wanted in (table.name.lower(), table.id))
