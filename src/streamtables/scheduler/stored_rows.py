"""How many rows a stream table holds, as its log tells; remembered until the log grows."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import describe
from streamtables.errors import StreamTablesError
from streamtables.positions import Version

_KEPT = 10_000


@dataclass
class StoredRows:
    """Row counts by location; a look at a table that did not move opens nothing."""

    _seen: OrderedDict[str, tuple[Version, int | None]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, location: str) -> int | None:
        """Return the rows of a table; None where it has none yet or its log does not count."""
        with self._lock:
            seen = self._seen.get(location)
        try:
            head = DeltaLog(location).head(seen[0] if seen else None)
            if head is None:
                return None
            if seen is not None and seen[0] == head:
                return seen[1]
            rows = describe(location).rows
        except StreamTablesError:
            # A table that cannot be opened is shown by its next refresh.
            return None
        with self._lock:
            # Noted under the version before the count: one that came between is counted again.
            self._seen[location] = (head, rows)
            if len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return rows


STORED_ROWS = StoredRows()
"""Shared by all who ask in this process: locations carry ids, and are not used again."""
