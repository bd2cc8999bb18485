"""The small way: changes and results fit the driver, Spark only computes.

changes     Arrow, netted on the columns that the query reads
compute     one Spark query over them and the tables as they are after the change
stored      the rows of the touched keys, by deltalake
commit      by deltalake, compare-and-set
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from streamtables.compiler.backend.statement import Program, view_name
from streamtables.compiler.maintenance import STATE, ChangedTables
from streamtables.engine import arrow_rows, small_hand
from streamtables.engine.binding import TableVersion, bind
from streamtables.engine.combine_state import combine_state, copied_rows
from streamtables.engine.handles import Session
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.programs import run_small
from streamtables.refresh.fail_points import reach
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task


@dataclass(frozen=True)
class SmallRefresh:
    """One refresh by the small way."""

    task: Task
    changes: dict[str, pa.Table]
    around: Surroundings
    watch: Stopwatch

    def run(self) -> Applied | Superseded:
        """Compute and commit the change.

        Raises:
            NotSmall: a part is too large or of a type that only Spark can write; nothing happened.
        """
        with self.around.sessions.lease("quick", tag=self.task.refresh_id) as spark:
            with self.watch.step("bind"):
                self._bind(spark)
            with self.watch.step("compute", hand="spark"):
                result = self._computed(spark)
            reach("delta-computed")
            with self.watch.step("apply", hand="deltalake"):
                return self._applied(spark, result)

    @property
    def _programs(self) -> ChangedTables:
        return self.around.plans.programs(
            self.task.table, self.task.definitions, frozenset(self.changes), small=True
        )

    def _bind(self, spark: Session) -> None:
        for item in self.task.inputs:
            bind(spark, view_name(item.name, "after"), TableVersion(item.location, item.version))
        for name, rows in self.changes.items():
            bind(spark, view_name(name, "changes"), rows)

    def _computed(self, spark: Session) -> pa.Table:
        programs = self._programs
        match programs.table.form:
            case "stored-state":
                return self._small(spark, programs.contributions)
            case "touched-groups":
                return self._small(spark, programs.new_groups)
            case "signed-rows":
                return self._small(spark, programs.signed_rows)

    def _small(self, spark: Session, program: Program) -> pa.Table:
        limit = self.around.settings.driver_rows_max
        rows = run_small(spark, program, rows_max=limit)
        if rows is None:
            raise NotSmall(f"the change of the result has more than {limit:,} rows")
        return rows

    def _applied(self, spark: Session, result: pa.Table) -> Applied | Superseded:
        task = self.task
        assert task.standing is not None
        key = task.plan.maintenance.layout.key
        handle = small_hand.open_at(task.table.location, task.standing.version)
        form = task.plan.maintenance.form
        if form == "signed-rows":
            return small_hand.apply(
                handle, result, key_columns=key, stamp=task.stamp("differential")
            )
        covered = self._covered(spark, handle, result)
        new = result if form == "touched-groups" else self._state_rows(spark, result, covered)
        signed = pa.concat_tables(
            [
                _aligned(arrow_rows.with_weight(new, 1), handle.schema),
                _aligned(arrow_rows.with_weight(covered.rows, -1), handle.schema),
            ]
        )
        return small_hand.apply(
            handle,
            signed,
            key_columns=key,
            stamp=task.stamp("differential"),
            covered=covered,
        )

    def _covered(
        self, spark: Session, handle: small_hand.SmallHandle, result: pa.Table
    ) -> small_hand.Covered:
        """Return the stored rows of the touched groups."""
        programs = self._programs
        key = self.task.plan.maintenance.layout.key or ()
        pairs = programs.key_pairs
        if programs.table.form == "stored-state" or programs.touched is None:
            keys = result.select([inner for inner, _ in pairs if inner in result.column_names])
        else:
            keys = self._small(spark, programs.touched_groups)
        names = dict(pairs)
        keys = keys.rename_columns([names[name] for name in keys.column_names])
        limit = self.around.settings.driver_rows_max
        return small_hand.read_keys(handle, key, keys, rows_max=max(limit, keys.num_rows * 2))

    def _state_rows(
        self, spark: Session, contributions: pa.Table, covered: small_hand.Covered
    ) -> pa.Table:
        """Return the new rows of the touched groups from their state."""
        maintenance = self.task.plan.maintenance
        state = maintenance.state
        assert state is not None
        combined = combine_state(contributions, covered.rows, state)
        copied = copied_rows(combined, state)
        if copied is not None:
            return copied
        bind(spark, view_name(STATE, "now"), combined.groups)
        return self._small(spark, maintenance.state_rows)


def _aligned(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the order and types of the stored table, the weight last."""
    wanted = pa.schema([*schema, pa.field("__st_weight", pa.int64())])
    return rows.select(wanted.names).cast(wanted)
