"""Writes that tables follow at once: the part of the interface that changes sources."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from streamtables.catalog import Catalog
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.errors import TransientError
from streamtables.refresh.immediate import IMMEDIATE
from streamtables.refresh.immediate.settling import settle, settled
from streamtables.refresh.immediate.waiting import Goal, goal_of, is_reached
from streamtables.refresh.immediate.write import Write, Written
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.service import Scheduler

_LOOK_AGAIN = 0.1


class Writing:
    """The methods of an open warehouse that write to sources, and wait for what was written."""

    _catalog: Catalog
    _around: Surroundings
    _scheduler: Scheduler

    def write(self, source: str, changes: object) -> Written:
        """Write rows into a source; its tables of mode immediate include them when this returns.

        `changes` are rows to insert (a list of dicts, an Arrow table, anything that gives Arrow
        data), or {"insert": rows, "upsert": rows, "delete": rows or keys}.  An error means that
        nothing was written.
        """
        written = Write(self._around, self._catalog.source(source), changes).run()
        # Tables that follow by schedule may be due now.
        self._scheduler.wake()
        return written

    def wait_for(
        self,
        name: str,
        position: int | str | Mapping[str, int | str] | None = None,
        *,
        timeout: float = 60.0,
        refresh: bool = True,
    ) -> StreamTable:
        """Wait until a table includes what was written, and return its definition.

        `position` is what `pg_current_xact_id()` gave in the transaction that wrote to PostgreSQL,
        or a version of each source by its name; None is everything that is committed now.  With
        `refresh=False` nothing is refreshed here: somebody else's scheduler does it.
        """
        goal: Goal | None = None
        deadline = time.monotonic() + timeout
        while True:
            snapshot = self._catalog.snapshot()
            table = snapshot.definitions.stream_table(name)
            goal = goal or goal_of(table, position, snapshot, self._around)
            if is_reached(goal, table, snapshot, self._catalog):
                return table
            if time.monotonic() > deadline:
                raise TransientError(
                    f'stream table "{name}" does not include the position after {timeout:g} s',
                    hint="Look at its history and at the scheduler, or wait longer.",
                )
            if refresh:
                settle(self._around, snapshot, (table,))
            else:
                self._around.sleep(_LOOK_AGAIN)

    def _settled(self, tables: Sequence[StreamTable], snapshot: CatalogSnapshot) -> CatalogSnapshot:
        """Bring tables of mode immediate forward, should a writer have died half-way."""
        behind = tuple(table for table in tables if table.mode == IMMEDIATE)
        return settled(self._around, snapshot, behind) if behind else snapshot
