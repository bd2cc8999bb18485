"""Repairing a table with the least work: the rows that are wrong, else all of them.

Its query is computed at the frontier that it stands at and compared with what is stored, hidden
columns included; only what differs is written.  Readers of the table follow that as a change.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Input, StreamTable, new_refresh_id
from streamtables.compiler.backend.statement import view_name
from streamtables.engine import small_hand
from streamtables.engine.binding import TableVersion, bind, read_version
from streamtables.engine.collect import fetch
from streamtables.engine.compare import different_rows
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.programs import run_large
from streamtables.engine.sql_text import identifier
from streamtables.errors import CommitConflictError
from streamtables.positions import CLOCK, Standing
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.clock import bind_clock
from streamtables.refresh.decide import Decision
from streamtables.refresh.recording import Recording
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput

RIGHT = Reason("repair", "every row is as the query gives it")


@dataclass(frozen=True)
class Mend:
    """The repair of the rows of one table; used once."""

    around: Surroundings
    snapshot: CatalogSnapshot
    table: StreamTable

    def run(self) -> Refresh | None:
        """Write what differs from the query; None where only a rebuild helps.

        Raises:
            TableDamagedError: somebody else wrote to the table.
        """
        task, watch = self._task(), Stopwatch()
        if task is None:
            return None
        try:
            with watch.step("compare", hand="spark"):
                signed = self._difference(task)
        except NotSmall:
            return None
        recording = Recording(task, self.around, watch)
        recording.decided(Decision("whole", RIGHT), rows_in=0)
        if signed.num_rows == 0:
            return recording.no_change(RIGHT, began=False)
        text = f"{signed.num_rows:,} stored rows were not as the query gives them"
        recording.decided(Decision("whole", Reason("repair", text)), rows_in=0)
        recording.began()
        return self._written(task, signed, recording, watch)

    def _written(
        self, task: Task, signed: pa.Table, recording: Recording, watch: Stopwatch
    ) -> Refresh | None:
        try:
            with watch.step("apply", hand="deltalake"):
                result = small_hand.apply(
                    small_hand.open_at(task.table.location, task.stored_version),
                    signed,
                    key_columns=task.plan.facts.key,
                    stamp=task.stamp("differential"),
                )
        except (NotSmall, CommitConflictError, pa.ArrowException) as error:
            recording.superseded(Reason("repair", f"the rows could not be written: {error}"))
            return None
        if isinstance(result, Superseded):
            return recording.superseded(Reason("superseded", "another process was first"))
        return _recorded(result, recording)

    def _difference(self, task: Task) -> pa.Table:
        limit = self.around.settings.driver_result_rows_max
        with self.around.sessions.lease("bulk", tag=task.refresh_id) as spark:
            bind_clock(spark, task)
            for item in task.inputs:
                at = TableVersion(item.location, item.version)
                bind(spark, view_name(item.name, "after"), at)
            expected = run_large(spark, task.plan.stored)
            stored = read_version(spark, TableVersion(task.table.location, task.stored_version))
            if set(expected.columns).difference(stored.columns):
                raise NotSmall("the stored rows have other hidden columns")
            stored = stored.select(*map(identifier, expected.columns))
            different = different_rows(expected, stored, inexact=task.plan.facts.inexact)
            rows = fetch(different, limit)
        if rows is None:
            raise NotSmall(f"more than {limit:,} rows differ")
        return rows

    def _task(self) -> Task | None:
        """Return a task that stays where the table stands; None where it cannot be mended so."""
        table, definitions = self.table, self.snapshot.definitions
        plan = self.around.plans.plan(table, definitions)
        known = self.snapshot.standings.get(table.id)
        found = reconciled(table, known, self.around.catalog, self.around.clock())
        if found is None or plan.facts.form is None or table.state != "active":
            return None
        standing = found.standing
        if standing.query_hash != table.defining_query_hash:
            return None
        return Task(
            table=table,
            definitions=definitions,
            plan=plan,
            standing=standing,
            head=found.head,
            inputs=tuple(self._input(item, standing) for item in table.inputs),
            base_frontier=standing.base_frontier,
            refresh_id=new_refresh_id(),
            clock=standing.frontier.get(CLOCK),
        )

    def _input(self, item: Input, standing: Standing) -> TaskInput:
        """Return an input; a stream table that was mended just now has a later version."""
        upstream = self.snapshot.standings.get(item.id)
        version = standing.frontier[item.id] if upstream is None else upstream.version
        entry = self.snapshot.sources.get(item.id) or self.snapshot.stream_tables[item.id]
        return TaskInput(item.id, entry.name, entry.location, version, item.columns)


def _recorded(result: Applied, recording: Recording) -> Refresh:
    if result.version is None:
        return recording.no_change(RIGHT, began=True)
    return recording.applied(result, result.version)
