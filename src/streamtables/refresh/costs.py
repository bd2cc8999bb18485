"""What past refreshes tell about the cost of the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtables.catalog.models import RefreshRecord
from streamtables.refresh.decide import Facts
from streamtables.refresh.task import Task
from streamtables.sources.changes import SharedChanges


def past_costs(
    facts: Facts, history: Sequence[RefreshRecord], task: Task, changes: SharedChanges
) -> Facts:
    """Return the facts with the last timings of each mode and an estimate of the change."""
    applied = [record for record in history if record.state == "applied"]
    full = next((record for record in applied if record.mode == "full"), None)
    last = next((r for r in applied if r.mode == "differential" and r.rows_in), None)
    return replace(
        facts,
        changed_rows=changes.estimate(task.window(item) for item in task.changed)
        if task.standing is not None
        else None,
        last_full_seconds=full.seconds if full else None,
        last_differential_seconds=last.seconds if last else None,
        last_differential_rows=last.rows_in if last else 0,
    )
