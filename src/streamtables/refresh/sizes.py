"""How many rows stream tables have, followed from refresh to refresh instead of asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from streamtables.catalog.models import RefreshRecord
from streamtables.positions import InputId


@dataclass
class Sizes:
    """The rows of each stream table, as the refreshes of this process left it.

    A hint for predictions only: another process may have moved a table in between.
    """

    _rows: dict[InputId, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def rows(self, table: InputId, count: Callable[[], int | None]) -> int:
        """Return the rows of a table; `count` tells where that is not known, or None."""
        with self._lock:
            known = self._rows.get(table)
        if known is not None:
            return known
        found = count() or 0
        with self._lock:
            return self._rows.setdefault(table, found)

    def note(self, record: RefreshRecord) -> None:
        """Follow a refresh."""
        key, came, went = record.stream_table_id, record.rows_inserted, record.rows_deleted
        with self._lock:
            if record.strategy == "overwrite":
                self._rows[key] = came
            elif key in self._rows:
                self._rows[key] = max(0, self._rows[key] + came - went)
