"""What one table adds to a statement that computes several, now or when it is its turn.

Only programs that read nothing but the changes of one input: for the others a statement of their
own does not weigh much.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from streamtables.compiler.backend.statement import Program, view_name
from streamtables.engine.outcomes import TooLarge
from streamtables.engine.together import Branch
from streamtables.refresh.looked_up import looks_up
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.refresh.together import Part
from streamtables.sources.changes import SharedChanges, Window


def part_of(task: Task, changes: Mapping[str, pa.Table], program: Program) -> Part | None:
    """Return the part of a refresh that follows its changes; None where it needs more than them."""
    facts = task.plan.facts
    if len(task.changed) != 1 or task.clock is not None or facts.first is not None:
        return None
    # What a function in Python takes, and whether it ends, nobody knows.
    if facts.python_functions:
        return None
    [item] = task.changed
    branch = Branch(program, view_name(item.name, "changes"), changes[item.name])
    return Part(task.table.id, task.window(item), branch) if branch.fits else None


def expected_part(
    task: Task, window: Window, changes: SharedChanges, around: Surroundings
) -> Part | None:
    """Return the part of a refresh that has not begun, if it does as the last one did.

    None as well where it will follow another window than that.

    Raises:
        StreamTablesError: something is wrong with it, which it says itself when it is its turn.
    """
    if around.costs.last_way(task.table.id) not in (None, "changes"):
        return None
    if not task.may_follow or len(task.changed) != 1:
        return None
    [item] = task.changed
    if task.window(item) != window:
        return None
    rows = changes.small(window, item.columns)
    if isinstance(rows, TooLarge):
        return None
    found = looks_up(around.settings)
    program = task.plan.changes(frozenset({item.name}), small=True, found=found)
    return part_of(task, {item.name: rows}, program)
