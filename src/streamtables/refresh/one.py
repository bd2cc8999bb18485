"""One refresh of one table: decide, compute, apply, record."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import pyarrow as pa

from streamtables.engine.outcomes import Applied, NotSmall, Superseded, TooLarge
from streamtables.errors import (
    CommitConflictError,
    FullForbiddenError,
    HistoryGoneError,
    InternalError,
    StreamTablesError,
    TableDamagedError,
)
from streamtables.fail_points import reach
from streamtables.refresh.costs import REMEMBERED, past_of
from streamtables.refresh.deadline import deadline
from streamtables.refresh.decide import Decision, Facts, decide
from streamtables.refresh.prepare import prepare_changes
from streamtables.refresh.recording import (
    NO_EFFECT,
    NOT_READ,
    NOTHING_CHANGED,
    OVERTAKEN,
    Recording,
)
from streamtables.refresh.results import Refresh
from streamtables.refresh.small_way import SmallRefresh
from streamtables.refresh.spark_way import SparkRefresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput
from streamtables.refresh.whole_way import WholeRefresh, stored_rows_fit
from streamtables.sources.changes import SharedChanges

Changes = dict[str, pa.Table]


@dataclass
class RefreshOne:
    """The refresh of one table; used once."""

    task: Task
    changes: SharedChanges
    around: Surroundings
    watch: Stopwatch = field(default_factory=Stopwatch)

    def run(self) -> Refresh:
        """Refresh the table; an error is part of the answer, and is recorded."""
        recording = Recording(self.task, self.around, self.watch)
        if self._is_current:
            return recording.no_change(NOTHING_CHANGED, began=False)
        seconds = self.around.settings.refresh_timeout_seconds
        tag = self.task.refresh_id
        try:
            with deadline(seconds, lambda: self.around.sessions.cancel(tag), self.task.table.name):
                result = self._refreshed(recording)
        except CommitConflictError:
            return recording.superseded(OVERTAKEN)
        except StreamTablesError as error:
            if isinstance(error, TableDamagedError):
                now = self.around.clock()
                self.around.catalog.set_state(self.task.table.id, "damaged", str(error), at=now)
            return recording.failed(error)
        except Exception as error:
            # A bug: this table stops, the others of the round run on.
            fault = InternalError(
                f'the refresh of "{self.task.table.name}" met an unexpected fault',
                detail=f"{type(error).__name__}: {error}",
            )
            fault.__cause__ = error
            return recording.failed(fault)
        if result.mode == "full":
            self._prepare()
        return result

    def _prepare(self) -> None:
        """Make ready what the next refresh will ask for."""
        # The rows are there: what cannot be made now fails where it is needed, with its own reason.
        with suppress(Exception):
            prepare_changes(self.task, small=self.around.settings.driver_rows_max > 0)

    @property
    def _is_current(self) -> bool:
        task, standing = self.task, self.task.standing
        if standing is None or task.full or task.rebuild is not None or self._query_changed:
            return False
        still = not task.changed and not task.clock_moved
        return still and task.base_frontier == standing.base_frontier

    @property
    def _query_changed(self) -> bool:
        standing = self.task.standing
        return standing is not None and standing.query_hash != self.task.table.defining_query_hash

    def _refreshed(self, recording: Recording) -> Refresh:
        small = self._small_changes(recording)
        moved = self.task.clock_moved or small is None
        if small is not None and not moved and not any(r.num_rows for r in small.values()):
            return recording.no_change(NOT_READ, began=False)
        decision = self._decided(small, recording)
        recording.began()
        try:
            result = self._written(decision, small, recording)
        except HistoryGoneError as error:
            if decision.mode == "full":
                raise
            self._lose_history(error)
            result = self._written(self._decided(None, recording), None, recording)
        reach("committed")
        if isinstance(result, Superseded):
            return recording.superseded(OVERTAKEN)
        if result.version is None:
            return recording.no_change(NO_EFFECT, began=True)
        return recording.applied(result, result.version)

    def _decided(self, small: Changes | None, recording: Recording) -> Decision:
        facts = self._facts(small)
        decision = decide(facts)
        if decision.way == "whole" and not stored_rows_fit(self.task, self.around):
            decision = decide(replace(facts, comparable=False))
        recording.decided(decision, rows_in=_rows(small) or 0)
        self._check_policy(decision)
        return decision

    def _lose_history(self, error: HistoryGoneError) -> None:
        """Changes alone cannot lead on: note why, so that the table is rebuilt."""
        text = f"the change history does not lead on: {error.message}"
        self.task = replace(self.task, rebuild=text)

    def _small_changes(self, recording: Recording) -> Changes | None:
        """Return the changes of every changed input when all of them are small."""
        task = self.task
        if task.standing is None or task.full or task.rebuild or self._query_changed:
            return None
        if not task.plan.facts.incremental or task.table.mode == "full":
            return None
        found: Changes = {}
        with self.watch.step("changes"):
            for item in task.changed:
                rows = self._changes_of(item)
                if isinstance(rows, TooLarge):
                    note = f'changes of "{item.name}" go through Spark: {rows.reason}'
                    recording.notes.append(note)
                    return None
                found[item.name] = rows
        return found

    def _changes_of(self, item: TaskInput) -> pa.Table | TooLarge:
        window = self.task.window(item)
        try:
            self.changes.require_history(window)
            self.changes.require_same_columns(window, item.columns)
            return self.changes.small(window, item.columns)
        except HistoryGoneError as error:
            self._lose_history(error)
            return TooLarge(error.message)

    def _facts(self, small: Changes | None) -> Facts:
        task = self.task
        facts = Facts(
            table_mode=task.table.mode,
            filled=task.standing is not None,
            forced_full=task.full,
            query_changed=self._query_changed,
            refusal=task.plan.facts.refusal,
            rebuild=task.rebuild,
            changed_rows=_rows(small),
            source_rows=_source_rows(task),
            full_threshold=self.around.settings.full_threshold,
            small=small is not None,
            whole_from_seconds=self.around.settings.whole_from_seconds,
        )
        if decide(facts).mode == "full":
            return facts
        if small is None:
            windows = (task.window(item) for item in task.changed)
            facts = replace(facts, changed_rows=self.changes.estimate(windows))
        return replace(facts, past=past_of(self.around.catalog.history(task.table.id, REMEMBERED)))

    def _check_policy(self, decision: Decision) -> None:
        forbidden = self.task.table.full_policy == "forbid" and not self.task.full
        if decision.mode == "full" and forbidden and decision.reason.code != "first-fill":
            raise FullForbiddenError(
                f'stream table "{self.task.table.name}" would need a full refresh',
                detail=f"Reason: {decision.reason.text}.",
                hint="Alter it with full='allow', or ask for one with full=True.",
            )

    def _written(
        self, decision: Decision, small: Changes | None, recording: Recording
    ) -> Applied | Superseded:
        spark = SparkRefresh(self.task, self.changes, self.around, self.watch)
        if decision.mode == "full":
            return spark.full()
        if small is None:
            return spark.differential()
        try:
            if decision.way == "whole":
                return WholeRefresh(self.task, self.around, self.watch).run()
            return SmallRefresh(self.task, small, self.around, self.watch).run()
        except NotSmall as declined:
            recording.notes.append(f"the result goes through Spark: {declined.reason}")
            return spark.differential()


def _rows(changes: Changes | None) -> int | None:
    if changes is None:
        return None
    return sum(int(rows.num_rows) for rows in changes.values())


def _source_rows(task: Task) -> int | None:
    known = [item.rows for item in task.changed]
    return None if any(rows is None for rows in known) else sum(rows or 0 for rows in known)
