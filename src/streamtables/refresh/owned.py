"""What became of internal tables in a round: a part of the answers of their owners.

An internal table is refreshed before its owner, on the same pins.  What it took are steps of the
owner's refresh, and that it failed is the owner's failure; nobody else is told of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from streamtables.catalog.models import JsonValue, Step, StreamTable
from streamtables.errors import TableDamagedError
from streamtables.positions import InputId
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings

GROUPS = "groups"
"""The step of an owner in which one of its internal tables was refreshed."""


@dataclass
class Owned:
    """The refreshes of internal tables, by owner."""

    around: Surroundings
    _done: dict[InputId, list[Refresh]] = field(default_factory=dict)

    def note(self, table: StreamTable, result: Refresh) -> None:
        """Note what became of a table, if it is an internal one."""
        if table.owner_id is not None:
            self._done.setdefault(table.owner_id, []).append(result)

    def watch(self, owner: StreamTable) -> Stopwatch:
        """Return a stopwatch that counts what the internal tables of an owner took as its own."""
        watch = Stopwatch()
        for done in self._done.get(owner.id, ()):
            rows = done.rows_inserted + done.rows_deleted
            facts: dict[str, JsonValue] = {"table": done.table, "mode": done.mode, "rows": rows}
            watch.steps.append(Step(GROUPS, done.seconds, facts))
            watch.began -= done.seconds
        return watch

    def told(self, owner: StreamTable, result: Refresh) -> Refresh:
        """Return the answer of an owner, which is an error where an internal table met one."""
        done = self._done.get(owner.id, ()) if result.outcome == "deferred" else ()
        error = next((item.error for item in done if item.error is not None), None)
        if error is None:
            return result
        if isinstance(error, TableDamagedError):
            # To repair the owner repairs what it stands on.
            now = self.around.clock()
            self.around.catalog.set_state(owner.id, "damaged", str(error), at=now)
        return replace(
            result, outcome="failed", error=error, reason=Reason("failed", error.message)
        )
