"""The whole way: the query computed anew, and only what differs from the stored rows is written.

stored      all rows of the table, by deltalake
compute     the query over the tables as they are after the change
commit      the difference, by deltalake, compare-and-set

Readers see the same small change as if it had been followed, and no changes need to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from streamtables.compiler.backend.statement import view_name
from streamtables.engine import arrow_rows, small_hand
from streamtables.engine.binding import TableVersion, bind
from streamtables.engine.handles import Session
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.programs import run_small
from streamtables.fail_points import reach
from streamtables.refresh.clock import bind_clock
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.stored_columns import require_hidden
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task


@dataclass(frozen=True)
class WholeRefresh:
    """One refresh by the whole way."""

    task: Task
    around: Surroundings
    watch: Stopwatch

    def run(self) -> Applied | Superseded:
        """Compute the query and commit what differs.

        Raises:
            NotSmall: the rows are too many, or of a type that only Spark can write.
            OtherColumns: the stored rows lack hidden columns; nothing happened.
        """
        task = self.task
        with self.watch.step("read", hand="deltalake"):
            handle = small_hand.open_at(task.table.location, task.stored_version)
            require_hidden(task.plan.facts, handle.schema.names)
            stored = small_hand.read_all(handle, rows_max=self._limit)
        with self.around.sessions.lease(
            "bulk", tag=task.refresh_id, label=task.table.name
        ) as spark:
            with self.watch.step("bind"):
                self._bind(spark)
            with self.watch.step("compute", hand="spark", way="whole"):
                rows = self._computed(spark)
        reach("delta-computed")
        with self.watch.step("apply", hand="deltalake"):
            try:
                signed = _difference(rows, stored)
                return small_hand.apply(
                    handle,
                    signed,
                    key_columns=task.plan.facts.key,
                    stamp=task.stamp("differential"),
                )
            except pa.ArrowException as error:
                raise NotSmall(f"Arrow cannot combine the rows: {error}") from error

    @property
    def _limit(self) -> int:
        return self.around.settings.driver_result_rows_max

    def _bind(self, spark: Session) -> None:
        bind_clock(spark, self.task)
        for item in self.task.inputs:
            bind(spark, view_name(item.name, "after"), TableVersion(item.location, item.version))

    def _computed(self, spark: Session) -> pa.Table:
        limit = self._limit
        result = run_small(spark, self.task.plan.stored, rows_max=limit)
        if result is None:
            raise NotSmall(f"the result has more than {limit:,} rows")
        return result.rows


def _difference(new: pa.Table, stored: pa.Table) -> pa.Table:
    sides = ((new, 1), (stored, -1))
    weighted = (arrow_rows.with_weight(rows, weight) for rows, weight in sides)
    return pa.concat_tables([arrow_rows.aligned(rows, stored.schema) for rows in weighted])
