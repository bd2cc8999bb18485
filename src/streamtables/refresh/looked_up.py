"""The program of a small change, with the rows at hand that it would read tables for.

find    rows that the changes name by a key, in one pass over each table, by deltalake

A table that is too large for one process, or of which too many rows are named, is left to Spark,
and so is all that the program reads.  That this happened is remembered for a while: most likely
the next change is like this one.  Such a change reaches far, and computing the query anew may be
less work than to follow it: whoever chose to follow it looks again (`Ready.declined`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

import pyarrow as pa

from streamtables.catalog.models import JsonValue
from streamtables.compiler.backend.statement import Lookup, Program
from streamtables.engine.binding import TableVersion
from streamtables.engine.lookups import LookupLimits, find_rows
from streamtables.engine.outcomes import NotSmall
from streamtables.refresh.plan_cache.kept_plan import KeptPlan
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.settings import Settings

FIND = "find"
"""The step in which rows are looked up."""
_AFTER_REFRESHES = 20
"""After how many refreshes a lookup that found too much is tried again."""


@dataclass(frozen=True)
class Ready:
    """A program, and the rows that it reads beside changes and tables, by the names of views."""

    program: Program
    rows: Mapping[str, pa.Table] = field(default_factory=dict)
    declined: bool = False
    """Whether a lookup was tried and found too much, so that the program reads tables."""

    @property
    def row_count(self) -> int:
        """How many rows were found."""
        return sum(int(table.num_rows) for table in self.rows.values())


class Declined:
    """Which plans had a lookup that found too much, and for how many changed rows."""

    def __init__(self) -> None:
        self._plans: WeakKeyDictionary[KeptPlan, tuple[int, int]] = WeakKeyDictionary()
        self._lock = Lock()

    def is_known(self, plan: KeptPlan, changed_rows: int) -> bool:
        """Whether about as large a change was too large lately."""
        with self._lock:
            rows, left = self._plans.get(plan, (0, 0))
            return left > 0 and changed_rows * 2 > rows

    def should_try(self, plan: KeptPlan, changed_rows: int) -> bool:
        """Whether to look rows up; a time that it is left out counts towards the next try."""
        if not self.is_known(plan, changed_rows):
            return True
        with self._lock:
            rows, left = self._plans[plan]
            self._plans[plan] = (rows, left - 1)
            return False

    def note(self, plan: KeptPlan, changed_rows: int) -> None:
        """Remember a change that named too many rows."""
        with self._lock:
            self._plans[plan] = (changed_rows, _AFTER_REFRESHES)


_DECLINED = Declined()


@dataclass(frozen=True)
class Finding:
    """Looks up what the programs of one refresh read."""

    task: Task
    changes: Mapping[str, pa.Table]
    """The changes by the names of their views."""
    around: Surroundings
    watch: Stopwatch
    uncommitted: frozenset[str] = frozenset()
    """Tables that are read ahead of their commit, which no pass over files can see."""

    def ready(self, make: Callable[[bool], Program]) -> Ready:
        """Return a program that reads found rows where that can be; else one that reads tables."""
        settings = self.around.settings
        if not looks_up(settings):
            return Ready(make(False))
        program = make(True)
        if not program.lookups:
            return Ready(program)
        changed = sum(int(rows.num_rows) for rows in self.changes.values())
        limits = LookupLimits(settings.driver_result_rows_max, settings.lookup_bytes_max)
        with self.watch.step(FIND, hand="deltalake") as facts:
            if any(lookup.table in self.uncommitted for lookup in program.lookups):
                facts["declined"] = "a table is read ahead of its commit"
                return Ready(make(False))
            if not _DECLINED.should_try(self.task.plan, changed):
                facts["declined"] = "not tried: a change of about this size named too much lately"
                return Ready(make(False))
            try:
                found = find_rows(program.lookups, self.changes, self._place, limits)
            except NotSmall as declined:
                facts["declined"] = declined.reason
                _DECLINED.note(self.task.plan, changed)
                return Ready(make(False), declined=True)
            facts.update(_counts(found))
        return Ready(program, found)

    def _place(self, lookup: Lookup) -> TableVersion:
        [item] = [item for item in self.task.inputs if item.name == lookup.table]
        return TableVersion(item.location, item.version)


def looks_up(settings: Settings) -> bool:
    """Whether rows are looked up at all."""
    return settings.lookup_bytes_max > 0


def reaches_far(plan: KeptPlan, changes: Mapping[str, pa.Table]) -> bool:
    """Whether such changes named more rows lately than can be looked up."""
    return _DECLINED.is_known(plan, sum(int(rows.num_rows) for rows in changes.values()))


def _counts(found: Mapping[str, pa.Table]) -> dict[str, JsonValue]:
    return {"rows": sum(int(rows.num_rows) for rows in found.values()), "lookups": len(found)}
