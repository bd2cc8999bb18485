"""The record of one refresh, from its start to one of its ends.

Every end writes the record and, where the table moved, its standing in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from streamtables.catalog.models import RefreshRecord, Standing
from streamtables.catalog.scheduler_models import Event
from streamtables.engine.outcomes import Applied
from streamtables.errors import RefreshCancelledError, StreamTablesError
from streamtables.fail_points import reach
from streamtables.positions import Frontier, Version
from streamtables.refresh.decide import Decision
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.refresh.waited import waited

NOTHING_CHANGED = Reason("current", "nothing changed")
NOT_READ = Reason("no-effect", "the changes do not touch what the query reads")
NO_EFFECT = Reason("no-effect", "the changes leave the result as it is")
SAME_ROWS = Reason("same-rows", "the altered query gives the rows that are stored")
FELL_BACK = "fell-back-to-full"
CANCELLED = "cancelled"
"""The reason of a refresh that somebody stopped, and of those that wait for it."""
OVERTAKEN = Reason("superseded", "another process refreshed the table first; its rows were adopted")


@dataclass
class Recording:
    """Writes down what becomes of one task."""

    task: Task
    around: Surroundings
    watch: Stopwatch
    notes: list[str] = field(default_factory=list)
    record: RefreshRecord = field(init=False)

    def __post_init__(self) -> None:
        standing = self.task.standing
        self.notes.extend(self.task.notes)
        self.record = RefreshRecord(
            id=self.task.refresh_id,
            stream_table_id=self.task.table.id,
            sequence=self.task.sequence,
            process=self.around.process,
            started_at=self.around.clock(),
            from_frontier=standing.frontier if standing else Frontier.EMPTY,
            to_frontier=self.task.frontier,
            base_frontier=self.task.base_frontier,
        )

    def decided(self, decision: Decision, rows_in: int) -> None:
        """Note the way that was chosen; nothing is written yet."""
        self.record = replace(
            self.record,
            mode=decision.mode,
            reason_code=decision.reason.code,
            reason_text=decision.reason.text,
            rows_in=rows_in,
        )

    def began(self) -> None:
        """Record that the refresh runs."""
        self.around.catalog.begin_refresh(self.record)

    def no_change(self, reason: Reason, *, began: bool) -> Refresh:
        """End without a commit; the frontier moves over changes that had no effect."""
        standing = self.task.standing
        assert standing is not None
        forward = None if reason is NOTHING_CHANGED else self._moved(standing)
        self._end("no-change", mode="no-change", reason=reason)
        if began:
            self.around.catalog.finish_refresh(self.record, forward)
        else:
            self.around.catalog.record_no_change(self.record, forward)
        self._note_waited()
        return self._answer(standing.version)

    def applied(self, result: Applied, version: Version) -> Refresh:
        """End with a commit of ours."""
        self.record = replace(
            self.record,
            strategy=result.strategy,
            rows_inserted=result.rows_inserted or 0,
            rows_deleted=result.rows_deleted or 0,
        )
        self._end("applied")
        stamp = self.task.stamp(self.record.mode)
        standing = Standing.from_stamp(stamp, version, self.around.clock())
        self.around.catalog.finish_refresh(self.record, standing)
        reach("recorded")
        self._note_waited()
        self._tell_fallback()
        return self._answer(version)

    def _note_waited(self) -> None:
        """Say how old the changes were when the table had them."""
        now = self.record.finished_at or self.around.clock()
        self.around.observer.reached(now, waited(self.task, now))

    def _tell_fallback(self) -> None:
        """Say once that a table which is kept by changes had to be recomputed."""
        if self.around.observer.newly_fell_back(self.record):
            table, now = self.task.table, self.around.clock()
            text = f"it was recomputed as a whole: {self.record.reason_text}"
            event = Event(now, FELL_BACK, text, table.id, table.name)
            self.around.catalog.record_events([event])

    def superseded(self, reason: Reason) -> Refresh:
        """End because another process was first."""
        self._end("superseded", reason=reason)
        self.around.catalog.finish_refresh(self.record, None)
        return self._answer(None)

    def deferred(self, reason: Reason, *, began: bool = False) -> Refresh:
        """End because the table cannot move to these pins now."""
        self._end("deferred", mode="no-change", reason=reason)
        if began:
            self.around.catalog.finish_refresh(self.record, None)
        else:
            self.around.catalog.record_no_change(self.record)
        return self._answer(None)

    def cancelled(self, error: RefreshCancelledError) -> Refresh:
        """End because somebody asked for it; the table stays where it was."""
        reason = Reason(CANCELLED, error.message)
        self._end("cancelled", mode=self.record.mode or "differential", reason=reason)
        self.around.catalog.finish_refresh(self.record, None)
        return self._answer(None, error)

    def came_too_late(self, standing: Standing) -> Refresh:
        """End with a commit of ours that was made before somebody's wish to stop was heard."""
        self.notes.append("somebody asked that it stop, and the commit was made already")
        self._end("applied")
        # Whoever found the commit has recorded where the table stands.
        self.around.catalog.finish_refresh(self.record, None)
        return self._answer(standing.version)

    def failed(self, error: StreamTablesError) -> Refresh:
        """End with an error; the table stays where it was."""
        reason = Reason(
            self.record.reason_code or "failed", self.record.reason_text or error.message
        )
        self.record = replace(self.record, error_code=error.code, error_text=error.message)
        self._end("failed", mode=self.record.mode or "differential", reason=reason)
        self.around.catalog.finish_refresh(self.record, None)
        return self._answer(None, error)

    def _end(self, state: str, *, mode: str | None = None, reason: Reason | None = None) -> None:
        self.record = replace(
            self.record,
            state=state,  # type: ignore[arg-type]  # one of the ends above
            mode=mode or self.record.mode,
            reason_code=reason.code if reason else self.record.reason_code,
            reason_text=reason.text if reason else self.record.reason_text,
            seconds=self.watch.seconds,
            steps=tuple(self.watch.steps),
            notes=tuple(self.notes),
            finished_at=self.around.clock(),
        )

    def _moved(self, standing: Standing) -> Standing:
        """Return the same stored rows, standing for later versions of the inputs."""
        return replace(
            standing,
            query_hash=self.task.table.defining_query_hash,
            frontier=self.task.frontier,
            base_frontier=self.task.base_frontier,
            updated_at=self.around.clock(),
        )

    def _answer(self, version: Version | None, error: StreamTablesError | None = None) -> Refresh:
        # Every end comes here, once the catalog has its record.
        self.around.observer.refresh_ended(self.task.table.name, self.record)
        return Refresh.of(self.task.table.name, self.record, version, error)
