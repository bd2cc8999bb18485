"""The work that each way of a refresh would be, as far as it is known before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from streamtables.compiler.backend.statement import Lookup, Program, view_name
from streamtables.engine.describe import describe
from streamtables.errors import StreamTablesError
from streamtables.refresh.cost_model import Way, Work
from streamtables.refresh.looked_up import looks_up, reaches_far
from streamtables.refresh.small_way import changed_in
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput


@dataclass(frozen=True)
class Works:
    """Estimates the ways of one task."""

    task: Task
    around: Surroundings

    def full(self) -> Work:
        """Return the work of computing the query and replacing all rows."""
        return self._read(self.task.plan.stored)

    def open_ways(
        self, small: dict[str, pa.Table] | None, changed_rows: int | None
    ) -> Mapping[Way, Work]:
        """Return the work of each way that a filled table can go; nothing where it is not known."""
        if small is None:
            if changed_rows is None:
                return {}
            return {"merge": self._merge(changed_rows), "full": self.full()}
        found: dict[Way, Work] = {"changes": self._changes(small), "full": self.full()}
        if self._stored_rows() <= self.around.settings.driver_result_rows_max:
            found["whole"] = found["full"]
        return found

    def _changes(self, small: dict[str, pa.Table]) -> Work:
        changed = changed_in(self.task, small)
        found = looks_up(self.around.settings) and not reaches_far(self.task.plan, small)
        program = self.task.plan.changes(changed, small=True, found=found)
        rows = sum(int(table.num_rows) for table in small.values())
        return self._read(program, changed_rows=rows)

    def _merge(self, changed_rows: int) -> Work:
        program = self.task.plan.changes(self.task.changed_names, small=False)
        return self._read(program, changed_rows=changed_rows)

    def _read(self, program: Program, *, changed_rows: int = 0) -> Work:
        text = "\n".join([program.sql, *(step.sql for step in program.steps)])
        scans = {
            item.name: text.count(f"`{view_name(item.name, 'after')}`") for item in self.task.inputs
        }
        scanned = sum(scans[item.name] * self._rows_of(item) for item in self.task.inputs)
        return Work(
            statements=1 + len(program.steps),
            changed_rows=changed_rows,
            scanned_rows=scanned,
            stored_rows=self._stored_rows(),
            lookups=len(program.lookups),
            passed_rows=self._passed_rows(program),
            scans=sum(scans.values()),
        )

    def _passed_rows(self, program: Program) -> int:
        """Return the rows of tables that lookups pass over."""
        passes = tables_passed(program.lookups)
        rows = {item.name: self._rows_of(item) for item in self.task.inputs if item.name in passes}
        return sum(rows[table] for table in passes)

    def _rows_of(self, item: TaskInput) -> int:
        if item.rows is not None:
            return item.rows
        return self.around.sizes.rows(item.id, lambda: _counted(item.location))

    def _stored_rows(self) -> int:
        if self.task.standing is None:
            return 0
        table = self.task.table
        return self.around.sizes.rows(table.id, lambda: _counted(table.location))


def tables_passed(lookups: Sequence[Lookup]) -> list[str]:
    """Return the tables that are passed over: each once for each turn in which rows are found."""
    turns: dict[str, int] = {}
    passes: dict[tuple[str, int], None] = {}
    for lookup in lookups:
        held = (view for one in lookup.any_of for item in one for view, _ in item.held)
        turn = 1 + max((turns.get(view, 0) for view in held), default=0)
        turns[lookup.view] = turn
        passes[lookup.table, turn] = None
    return [table for table, _ in passes]


def _counted(location: str) -> int | None:
    """Return the rows that a log tells of; None where it does not."""
    try:
        return describe(location).rows
    except StreamTablesError:
        # Whoever needs the table meets the error and says so; here it is only a guess.
        return None
