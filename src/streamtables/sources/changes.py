"""The changes of an input between two versions, read once per round and shared by its readers."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

import pyarrow as pa

from streamtables.engine import arrow_rows
from streamtables.engine.change_feed import (
    count_spark,
    no_changes,
    read_small,
    read_spark,
    read_spark_added,
    total_weight,
)
from streamtables.engine.column_identity import moved_columns
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.handles import Rows, Session
from streamtables.engine.outcomes import NotSmall, TooLarge
from streamtables.engine.session import SparkSessions
from streamtables.errors import HistoryGoneError
from streamtables.positions import InputId, Version
from streamtables.sources.untouched import leave_alone


@dataclass(frozen=True)
class Window:
    """The versions of one input that a refresh consumes: after `since`, up to `upto`."""

    input_id: InputId
    location: str
    since: Version
    upto: Version


@dataclass
class SharedChanges:
    """Reads each window once, with the columns that any table of the round asks for."""

    rows_max: int
    columns: dict[InputId, tuple[str, ...]]
    shared: bool = True
    """Off, every reader of a window reads it for itself."""
    reads: int = 0
    skipped: int = 0
    """How often a window was not read because its commits say that they leave the columns alone."""
    _known: dict[Window, Future[pa.Table | TooLarge]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def small(self, window: Window, columns: tuple[str, ...]) -> pa.Table | TooLarge:
        """Return the net changes of some columns as Arrow, or why that is for Spark."""
        if self.rows_max == 0:
            return TooLarge("driver_rows_max is 0: every row goes through Spark")
        if self.leave_alone(window, columns):
            with self._lock:
                self.skipped += 1
            return no_changes(columns)
        found = self._read_once(window, columns) if self.shared else self._read(window, columns)
        if isinstance(found, TooLarge):
            return found
        if found.num_rows == 0:
            return found.select([*columns, "__st_weight"])
        try:
            return arrow_rows.net(found.select([*columns, "__st_weight"]), columns)
        except NotSmall as declined:
            return TooLarge(declined.reason)

    def leave_alone(self, window: Window, columns: tuple[str, ...]) -> bool:
        """Whether the log alone says that nothing of some columns changed."""
        entries = DeltaLog(window.location).entries(window.since, window.upto)
        return leave_alone(entries, window.input_id, columns)

    def _read_once(self, window: Window, columns: tuple[str, ...]) -> pa.Table | TooLarge:
        """Read a window, or wait for the reader that is at it; readers of others do not wait."""
        with self._lock:
            known = self._known.get(window)
            mine = known is None
            if known is None:
                known = self._known[window] = Future()
        if mine:
            try:
                wanted = _united(self.columns.get(window.input_id, ()), columns)
                known.set_result(self._read(window, wanted))
            except BaseException as error:
                known.set_exception(error)
        return known.result()

    def _read(self, window: Window, columns: tuple[str, ...]) -> pa.Table | TooLarge:
        with self._lock:
            self.reads += 1
        return read_small(
            window.location, window.since, window.upto, columns=columns, limit=self.rows_max
        )

    def only_adds(self, windows: Iterable[Window]) -> bool:
        """Whether the logs alone say that rows came and none went."""
        entries = (
            entry
            for window in windows
            for entry in DeltaLog(window.location).entries(window.since, window.upto)
        )
        return all(entry.only_adds for entry in entries if entry.changes_rows)

    def require_history(self, window: Window) -> None:
        """Raise HistoryGoneError unless the log still holds every version of a window."""
        DeltaLog(window.location).entries(window.since, window.upto)

    def require_same_columns(self, window: Window, columns: tuple[str, ...]) -> None:
        """Raise HistoryGoneError when a column that is read became another one on the way."""
        moved = moved_columns(window.location, window.since, window.upto, columns)
        if moved:
            raise HistoryGoneError(
                f'column "{moved[0]}" is another one since an ALTER of the table',
                hint="Refresh with full=True to read the table as it is now.",
            )

    def estimate(self, windows: Iterable[Window]) -> int | None:
        """Return about how many rows the commits changed; None when one does not tell."""
        total = 0
        for window in windows:
            for entry in DeltaLog(window.location).entries(window.since, window.upto):
                if (changed := entry.changed_rows) is None:
                    return None
                total += changed
        return total

    def count(self, sessions: SparkSessions, window: Window, columns: tuple[str, ...]) -> int:
        """Return how many rows came and went on balance; a large change is counted by Spark."""
        rows = self.small(window, columns)
        if not isinstance(rows, TooLarge):
            return total_weight(rows)
        with sessions.lease("bulk") as spark:
            return count_spark(self.large(spark, window, columns))

    def large(self, spark: Session, window: Window, columns: tuple[str, ...]) -> Rows:
        """Return the net changes of some columns as a DataFrame."""
        return read_spark(spark, window.location, window.since, window.upto, columns)

    def large_added(self, spark: Session, window: Window, columns: tuple[str, ...]) -> Rows:
        """Return the rows that came, where none went; equal ones are that many rows."""
        return read_spark_added(spark, window.location, window.since, window.upto, columns)


def _united(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
