"""One refresh of one table: decide, compute, apply, record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pyarrow as pa

from streamtables.catalog.models import StreamTable
from streamtables.engine.change_feed import total_weight
from streamtables.engine.outcomes import Applied, NotSmall, Superseded, TooLarge
from streamtables.errors import (
    CommitConflictError,
    HistoryGoneError,
    InternalError,
    RefreshCancelledError,
    StreamTablesError,
    TableDamagedError,
)
from streamtables.fail_points import reach
from streamtables.observe.logs import about
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.cancelling import Running
from streamtables.refresh.choosing import Changes, Choice, Choosing, rows_of
from streamtables.refresh.company import Stay
from streamtables.refresh.deadline import deadline
from streamtables.refresh.decide import Decision
from streamtables.refresh.looked_up import looks_up
from streamtables.refresh.past_report import CHANGED_ROWS
from streamtables.refresh.prepare import prepare_changes
from streamtables.refresh.recording import (
    NO_EFFECT,
    NOT_READ,
    NOTHING_CHANGED,
    OVERTAKEN,
    SAME_ROWS,
    Recording,
)
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.small_way import SmallRefresh
from streamtables.refresh.spark_way import SparkRefresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.stored_columns import OtherColumns
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput
from streamtables.refresh.together import Together
from streamtables.refresh.whole_way import WholeRefresh
from streamtables.sources.changes import SharedChanges

_log = logging.getLogger("streamtables.refresh")

FUSE = "fuse"
"""The reason of a refresh that somebody has to look at before its change is applied."""
Fuse = Callable[[StreamTable, Callable[[], int]], str | None]
"""Says why a change is too large to be applied unseen, given how many rows it has; else None."""


def fault_of(table: str, error: Exception) -> StreamTablesError:
    """Return what stopped a table; a bug stops it alone, and the others of the round run on."""
    if isinstance(error, StreamTablesError):
        return error
    fault = InternalError(
        f'the refresh of "{table}" met an unexpected fault',
        detail=f"{type(error).__name__}: {error}",
    )
    fault.__cause__ = error
    return fault


@dataclass
class RefreshOne:
    """The refresh of one table; used once."""

    task: Task
    changes: SharedChanges
    around: Surroundings
    watch: Stopwatch = field(default_factory=Stopwatch)
    scopes: Sequence[str] = ()
    """The pauses that concern it; its own always does."""
    fuse: Fuse | None = None
    together: Together | None = None
    """Those of the round that follow the same change; None where each computes alone."""
    running: Running = field(init=False)
    stay: Stay = field(init=False)
    following: SmallRefresh | None = field(init=False, default=None)
    """The small way, once it was looked at."""

    def run(self) -> Refresh:
        """Refresh the table; an error is part of the answer, and is recorded."""
        with about(table=self.task.table.name, refresh_id=self.task.refresh_id):
            return self._run()

    def _run(self) -> Refresh:
        recording = Recording(self.task, self.around, self.watch)
        if self._is_current:
            return recording.no_change(NOTHING_CHANGED, began=False)
        seconds = self.around.settings.refresh_timeout_seconds
        tag, name = self.task.refresh_id, self.task.table.name

        def cancel() -> None:
            self.around.sessions.cancel(tag)

        try:
            with (
                self.around.company.joined() as self.stay,
                self.around.cancels.watching(tag, name, cancel) as self.running,
                deadline(seconds, cancel, name),
            ):
                result = self._refreshed(recording)
        except RefreshCancelledError as error:
            return self._cancelled(recording, error)
        except CommitConflictError:
            return recording.superseded(OVERTAKEN)
        except StreamTablesError as error:
            if isinstance(error, TableDamagedError):
                now = self.around.clock()
                self.around.catalog.set_state(self.task.table.id, "damaged", str(error), at=now)
            return recording.failed(error)
        except Exception as error:
            return recording.failed(fault_of(self.task.table.name, error))
        if result.mode == "full":
            self._prepare()
        return result

    def _cancelled(self, recording: Recording, error: RefreshCancelledError) -> Refresh:
        """End as somebody wished; a commit that was made before is kept and recorded."""
        with suppress(StreamTablesError):
            task, now = self.task, self.around.clock()
            found = reconciled(task.table, task.standing, self.around.catalog, now)
            if found is not None and found.standing.refresh_id == task.refresh_id:
                return recording.came_too_late(found.standing)
        return recording.cancelled(error)

    def _prepare(self) -> None:
        """Make ready what the next refresh will ask for."""
        # The rows are there: what cannot be made now fails where it is needed, with its own reason.
        settings = self.around.settings
        small = settings.driver_rows_max > 0
        try:
            prepare_changes(self.task, small=small, found=looks_up(settings))
        except (StreamTablesError, RecursionError):
            return
        except Exception:
            # A bug, which the next refresh of this table meets; the others of the round run on.
            _log.exception("programs of the next refresh not prepared")

    @property
    def _is_current(self) -> bool:
        task, standing = self.task, self.task.standing
        if standing is None or task.full or task.rebuild is not None or task.query_changed:
            return False
        still = not task.changed and not task.clock_moved
        return still and task.base_frontier == standing.base_frontier

    def _refreshed(self, recording: Recording) -> Refresh:
        small = self._small_changes(recording)
        moved = self.task.clock_moved or small is None
        if small is not None and not moved and not any(r.num_rows for r in small.values()):
            return recording.no_change(NOT_READ, began=False)
        if (blown := self._blown(small)) is not None:
            return recording.deferred(Reason(FUSE, blown))
        choice = self._chosen(small, recording)
        recording.began()
        # Whoever pauses it looks for what runs afterwards: one of the two sees the other.
        paused = self.around.catalog.pause_of(self.task.table.id, self.scopes)
        if paused is not None:
            return recording.deferred(Reason("paused", f"it is paused: {paused}"), began=True)
        try:
            choice = self._reconsidered(choice, small, recording)
            result = self._written(choice.decision, small, recording)
        except (HistoryGoneError, OtherColumns) as error:
            if choice.decision.mode == "full":
                raise
            # Not where it was cancelled, which can look like files that cannot be read.
            self.running.check()
            self._need_rebuild(error)
            choice = self._chosen(None, recording)
            result = self._written(choice.decision, None, recording)
        reach("committed")
        if isinstance(result, Superseded):
            return recording.superseded(OVERTAKEN)
        return self._ended(choice, result, recording)

    def _blown(self, small: Changes | None) -> str | None:
        """Return why the change is to be looked at first; what is built anew follows none."""
        task = self.task
        anew = task.standing is None or task.full or task.rebuild or task.query_changed
        if self.fuse is None or anew:
            return None
        try:
            return self.fuse(task.table, lambda: self._pending(small))
        except HistoryGoneError:
            # How much changed, nobody can say any more: the table is rebuilt, with that reason.
            return None

    def _pending(self, small: Changes | None) -> int:
        """Return how many rows came and went in what is followed; large changes Spark counts."""
        if small is not None:
            return sum(total_weight(rows) for rows in small.values())
        changes, sessions = self.changes, self.around.sessions
        task = self.task
        return sum(changes.count(sessions, task.window(i), i.columns) for i in task.changed)

    def _ended(self, choice: Choice, result: Applied, recording: Recording) -> Refresh:
        """Record the refresh, and what it tells of the next one."""
        self.watch.steps.insert(0, choice.step(result, self.stay.own_share))
        if result.version is None:
            reason = SAME_ROWS if self.task.query_changed else NO_EFFECT
            answer = recording.no_change(reason, began=True)
        else:
            answer = recording.applied(result, result.version)
        self.around.sizes.note(recording.record)
        self.around.costs.note(recording.record)
        self.around.writes.note(recording.record)
        return answer

    def _chosen(self, small: Changes | None, recording: Recording) -> Choice:
        choosing = Choosing(self.task, self.changes, self.around)
        choice = choosing.choose(small, query_changed=self.task.query_changed)
        recording.decided(choice.decision, rows_in=rows_of(small or {}))
        fields = {"way": choice.decision.way, "reason": choice.decision.reason.code}
        _log.debug("way chosen", extra={"fields": fields})
        return choice

    def _reconsidered(self, choice: Choice, small: Changes | None, recording: Recording) -> Choice:
        """Choose again where lookups found too much: over tables the changes are other work."""
        if small is None or choice.decision.way != "changes":
            return choice
        declined = self._followed(small, recording).ready.declined
        return self._chosen(small, recording) if declined else choice

    def _followed(self, small: Changes, recording: Recording) -> SmallRefresh:
        """Return the small way; one for the whole refresh, as it keeps the rows that it found."""
        if self.following is None:
            args = (self.task, small, self.around, self.watch, recording.notes)
            self.following = SmallRefresh(*args, together=self.together, check=self.running.check)
        return self.following

    def _need_rebuild(self, error: HistoryGoneError | OtherColumns) -> None:
        """Changes alone cannot lead on: note why, so that the table is rebuilt."""
        if isinstance(error, OtherColumns):
            text = error.reason
        else:
            text = f"the change history does not lead on: {error.message}"
        self.task = replace(self.task, rebuild=text)

    def _small_changes(self, recording: Recording) -> Changes | None:
        """Return the changes of every changed input when all of them are small."""
        task = self.task
        if not task.may_follow:
            return None
        found: Changes = {}
        with self.watch.step("changes") as facts:
            for item in task.changed:
                rows = self._changes_of(item)
                if isinstance(rows, TooLarge):
                    note = f'changes of "{item.name}" go through Spark: {rows.reason}'
                    recording.notes.append(note)
                    return None
                if self.changes.leave_alone(task.window(item), item.columns):
                    note = f'changes of "{item.name}" are not read: its log says what they touch'
                    recording.notes.append(note)
                found[item.name] = rows
                facts[f"{CHANGED_ROWS}{item.name}"] = rows.num_rows
        return found

    def _changes_of(self, item: TaskInput) -> pa.Table | TooLarge:
        window = self.task.window(item)
        try:
            self.changes.require_history(window)
            self.changes.require_same_columns(window, item.columns)
            return self.changes.small(window, item.columns)
        except HistoryGoneError as error:
            self._need_rebuild(error)
            return TooLarge(error.message)

    def _written(
        self, decision: Decision, small: Changes | None, recording: Recording
    ) -> Applied | Superseded:
        spark = SparkRefresh(self.task, self.changes, self.around, self.watch)
        if decision.mode == "full":
            return spark.full(query_changed=self.task.query_changed)
        if small is None:
            return spark.differential()
        try:
            if decision.way == "whole":
                return WholeRefresh(self.task, self.around, self.watch).run()
            return self._followed(small, recording).run()
        except NotSmall as declined:
            self.running.check()
            recording.notes.append(f"the result goes through Spark: {declined.reason}")
            return spark.differential()
