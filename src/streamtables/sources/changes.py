"""The changes of an input between two versions, read once per round and shared by its readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock

import pyarrow as pa

from streamtables.engine import arrow_rows
from streamtables.engine.change_feed import read_small, read_spark
from streamtables.engine.column_identity import moved_columns
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.handles import Rows, Session
from streamtables.engine.outcomes import NotSmall, TooLarge
from streamtables.errors import HistoryGoneError
from streamtables.positions import InputId, Version


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
    reads: int = 0
    _known: dict[Window, pa.Table | TooLarge] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def small(self, window: Window, columns: tuple[str, ...]) -> pa.Table | TooLarge:
        """Return the net changes of some columns as Arrow, or why that is for Spark."""
        if self.rows_max == 0:
            return TooLarge("driver_rows_max is 0: every row goes through Spark")
        with self._lock:
            if window not in self._known:
                self.reads += 1
                self._known[window] = read_small(
                    window.location,
                    window.since,
                    window.upto,
                    columns=_united(self.columns.get(window.input_id, ()), columns),
                    limit=self.rows_max,
                )
            found = self._known[window]
        if isinstance(found, TooLarge):
            return found
        if found.num_rows == 0:
            return found.select([*columns, "__st_weight"])
        try:
            return arrow_rows.net(found.select([*columns, "__st_weight"]), columns)
        except NotSmall as declined:
            return TooLarge(declined.reason)

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
        """Return how many rows the commits say they changed; None when one does not tell."""
        total = 0
        for window in windows:
            for entry in DeltaLog(window.location).entries(window.since, window.upto):
                if not entry.changes_rows:
                    continue
                if entry.rows_added is None or entry.rows_removed is None:
                    return None
                total += entry.rows_added + entry.rows_removed
        return total

    def large(self, spark: Session, window: Window, columns: tuple[str, ...]) -> Rows:
        """Return the net changes of some columns as a DataFrame."""
        return read_spark(spark, window.location, window.since, window.upto, columns)


def _united(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
