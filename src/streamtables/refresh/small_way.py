"""The small way: changes and results fit the driver, Spark only computes.

changes     Arrow, netted on the columns that the query reads
find        rows of other tables that they name by a key, by deltalake
compute     one Spark query over them, and over the tables of which that is not enough;
            one for several tables of the round where the changes are enough (step `share`)
stored      the rows of the touched keys, by deltalake
lost        groups whose stored state does not tell their new row: one more query, over them alone;
            likewise first rows, where those stored and those that came do not tell them
commit      by deltalake, compare-and-set; by Spark where too many files are touched
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import pyarrow as pa

from streamtables.catalog.models import SHARE, TOGETHER, JsonValue
from streamtables.compiler.backend.statement import Program, view_name
from streamtables.compiler.maintenance import LOST, STATE, STORED
from streamtables.engine import small_hand
from streamtables.engine.ahead import Ahead, bind_ahead
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import ONE_TASK_ROWS, TableVersion, bind
from streamtables.engine.combine_state import combine_state, copied_rows
from streamtables.engine.first_rows import first_of
from streamtables.engine.handles import Session
from streamtables.engine.lookups import wanted_values
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.programs import SmallResult, reads, run_small
from streamtables.engine.session import Profile
from streamtables.engine.together import run_together
from streamtables.fail_points import reach
from streamtables.refresh.clock import bind_clock
from streamtables.refresh.looked_up import Finding, Ready
from streamtables.refresh.old_versions import bind_before
from streamtables.refresh.parts import part_of
from streamtables.refresh.routes import APPLY
from streamtables.refresh.small_write import SmallWrite
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.stored_columns import require_hidden
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.refresh.together import Alone, Together

COMBINE = "combine"
"""The step in which stored rows are read and the change is put to their state."""
LOST_GROUPS = "lost_groups"
"""The fact of that step: how many groups had to be computed anew."""


@dataclass(frozen=True)
class SmallRefresh:
    """One refresh by the small way."""

    task: Task
    changes: dict[str, pa.Table]
    around: Surroundings
    watch: Stopwatch
    notes: list[str] = field(default_factory=list)
    ahead: Mapping[str, Ahead] = field(default_factory=dict)
    """Inputs whose change is not committed yet, under the names that the query has for them."""
    together: Together | None = None
    """The round that it is a part of, where tables of one are computed together."""
    check: Callable[[], None] = lambda: None
    """Ends a refresh that somebody stopped."""

    def change(self) -> pa.Table:
        """Compute the signed change of the stored rows, and commit nothing.

        Raises:
            NotSmall: a part is too large for the driver.
            OtherColumns: the stored rows lack hidden columns.
        """
        with self._leased(self.ready.program) as spark:
            return self._write(spark, self._computed(spark)).signed

    def run(self) -> Applied | Superseded:
        """Compute and commit the change.

        Raises:
            NotSmall: a part is too large or of a type that only Spark can write; nothing happened.
            OtherColumns: the stored rows lack hidden columns; nothing happened.
        """
        with self._leased(self.ready.program) as spark:
            result = self._computed(spark)
            reach("delta-computed")
            try:
                write = self._combined(spark, result)
                with self.watch.step(APPLY, hand="deltalake") as facts:
                    ready = write or self._write(spark, result)
                    return ready.run(spark, facts, self.notes)
            except pa.ArrowException as error:
                # Nothing is written before the rows are ready, so Spark can take over.
                raise NotSmall(f"Arrow cannot combine the rows: {error}") from error

    def _combined(self, spark: Session, result: SmallResult) -> SmallWrite | None:
        """Return the write where groups may be lost: computing them is no part of writing."""
        facts = self.task.plan.facts
        extremes = facts.state is not None and facts.state.may_lose
        if not extremes and facts.first is None:
            return None
        with self.watch.step(COMBINE, hand="deltalake") as found:
            return self._write(spark, result, found)

    def _leased(self, program: Program) -> AbstractContextManager[Session]:
        profile: Profile = "bulk" if program.large else "quick"
        return self.around.sessions.lease(
            profile, tag=self.task.refresh_id, label=self.task.table.name
        )

    def _computed(self, spark: Session) -> SmallResult:
        if (result := self._computed_together(spark)) is not None:
            return result
        with self.watch.step("bind"):
            self._bind(spark)
        with self.watch.step("compute", hand="spark", way="changes"):
            return self._small(spark, self.ready)

    def _computed_together(self, spark: Session) -> SmallResult | None:
        """Return rows that one statement gives for several tables of the round, if one does."""
        mine = part_of(self.task, self.changes, self.ready.program)
        if self.together is None or mine is None or not self.together.concerns(mine):
            return None
        limit = self.around.settings.driver_result_rows_max
        with self.watch.step(SHARE, hand="spark") as facts:
            taken = self.together.rows(mine, partial(run_together, spark, rows_max=limit))
            self.check()
            if isinstance(taken, Alone):
                facts["declined"] = taken.reason
                return None
            facts |= {TOGETHER: taken.tables, "led": taken.led}
        return SmallResult(taken.rows, ())

    @cached_property
    def ready(self) -> Ready:
        """What Spark computes, and the rows for it that were found."""
        changed = changed_in(self.task, self.changes)
        return self._finding.ready(
            lambda found: self.task.plan.changes(changed, small=True, found=found)
        )

    @cached_property
    def _finding(self) -> Finding:
        held = {view_name(name, "changes"): rows for name, rows in self.changes.items()}
        return Finding(self.task, held, self.around, self.watch, frozenset(self.ahead))

    def _bind(self, spark: Session) -> None:
        program = self.ready.program
        self._bind_read(spark, self.ready)
        if self.task.plan.facts.first is not None:
            bind(spark, view_name(STORED, "now"), for_spark(self._first_rows.rows))
        bind_before(spark, self.task, program)
        bind_clock(spark, self.task)
        for name, rows in self.changes.items():
            if reads(program, view := view_name(name, "changes")):
                bind(spark, view, rows)

    def _bind_read(self, spark: Session, ready: Ready) -> None:
        """Bind what a program reads of the tables after the change: found rows, or all."""
        for view, rows in ready.rows.items():
            bind(spark, view, rows)
        program = ready.program
        for item in self.task.inputs:
            view = view_name(item.name, "after")
            if not reads(program, view):
                continue
            if (ahead := self.ahead.get(item.name)) is not None:
                bind_ahead(spark, view, ahead)
            else:
                bind(spark, view, TableVersion(item.location, item.version))

    def _small(self, spark: Session, ready: Ready) -> SmallResult:
        limit = self.around.settings.driver_result_rows_max
        few = ready.row_count <= ONE_TASK_ROWS
        result = run_small(spark, ready.program, rows_max=limit, few=few)
        if result is None:
            raise NotSmall(f"the change of the result has more than {limit:,} rows")
        return result

    def _write(
        self, spark: Session, result: SmallResult, facts: dict[str, JsonValue] | None = None
    ) -> SmallWrite:
        """Return the change of the stored rows, ready to be written."""
        task, form, handle = self.task, self.task.plan.facts.form, self._handle
        if form == "signed-rows":
            return SmallWrite(task, self.around, handle, result.rows)
        if form == "first-rows":
            covered, new = self._first_rows, self._first_anew(result.rows, facts)
        else:
            covered, new = self._covered(handle, result), result.rows
        if form == "stored-state":
            new = self._state_rows(spark, new, covered.named, facts)
        signed = small_hand.change_of_groups(handle, covered, new)
        return SmallWrite(task, self.around, handle, signed, covered)

    @cached_property
    def _handle(self) -> small_hand.SmallHandle:
        """The stored table, at the version that the change follows."""
        handle = small_hand.open_at(self.task.table.location, self.task.stored_version)
        require_hidden(self.task.plan.facts, handle.schema.names)
        return handle

    @cached_property
    def _first_rows(self) -> small_hand.Covered:
        """All stored rows, where they are the first of an order."""
        limit = self.around.settings.driver_result_rows_max
        return small_hand.read_keys(self._handle, (), pa.table({}), rows_max=limit)

    def _first_anew(self, candidates: pa.Table, facts: dict[str, JsonValue] | None) -> pa.Table:
        """Return the first rows: of the candidates, or of all rows where those do not tell."""
        limit = self.task.plan.facts.first
        assert limit is not None
        first = first_of(candidates, for_spark(self._first_rows.rows), limit)
        if facts is not None:
            facts[LOST_GROUPS] = int(first is None)
        if first is not None:
            return first
        ready = Ready(self.task.plan.lost_groups())
        with self._leased(ready.program) as spark:
            bind_clock(spark, self.task)
            self._bind_read(spark, ready)
            return self._small(spark, ready).rows

    def _covered(self, handle: small_hand.SmallHandle, result: SmallResult) -> small_hand.Covered:
        """Return the stored rows of the touched groups."""
        pairs = self.task.plan.facts.key_pairs
        state = self.task.plan.facts.form == "stored-state"
        keys = result.rows if state or not pairs else self._touched_keys(result)
        if keys is None:
            raise NotSmall("the touched groups are too many to be named")
        keys = keys.select([inner for inner, _ in pairs])
        keys = keys.rename_columns([shown for _, shown in pairs])
        limit = self.around.settings.driver_result_rows_max
        names = tuple(shown for _, shown in pairs)
        return small_hand.read_keys(handle, names, keys, rows_max=max(limit, 2 * keys.num_rows))

    def _touched_keys(self, result: SmallResult) -> pa.Table | None:
        """Return the keys of the touched groups, which are at hand or made by a step."""
        if (keys := self.ready.program.keys) is not None:
            held = {**self._finding.changes, **self.ready.rows}
            return pa.table({keys.column: wanted_values(keys, held)})
        made = zip(self.ready.program.steps, result.steps, strict=True)
        return next(rows for step, rows in made if step.wanted)

    def _state_rows(
        self,
        spark: Session,
        contributions: pa.Table,
        touched: pa.Table,
        facts: dict[str, JsonValue] | None,
    ) -> pa.Table:
        """Return the new rows of the touched groups: from their state, and of lost ones anew."""
        state = self.task.plan.facts.state
        assert state is not None
        combined = combine_state(contributions, touched, state)
        if facts is not None:
            facts[LOST_GROUPS] = combined.lost.num_rows
        made = copied_rows(combined, state)
        if made is None:
            bind(spark, view_name(STATE, "now"), combined.groups)
            made = self._small(spark, Ready(self.task.plan.state_rows)).rows
        if not combined.lost.num_rows:
            return made
        anew = self._lost_rows(spark, combined.lost.select([inner for inner, _ in state.group]))
        return pa.concat_tables([made, anew.select(made.column_names).cast(made.schema)])

    def _lost_rows(self, spark: Session, keys: pa.Table) -> pa.Table:
        """Return the rows of groups that have to be looked at as a whole."""
        lost = {view_name(LOST, "now"): for_spark(keys)} if keys.num_columns else {}
        ready = replace(self._finding, changes=lost).ready(
            lambda found: self.task.plan.lost_groups(found=found)
        )
        self._bind_read(spark, ready)
        for view, rows in lost.items():
            bind(spark, view, rows)
        return self._small(spark, ready).rows


def changed_in(task: Task, changes: Mapping[str, pa.Table]) -> frozenset[str]:
    """Return what changed in the columns that the query reads; the rest netted to nothing."""
    still = {name for name, rows in changes.items() if rows.num_rows == 0}
    return task.changed_names - still
