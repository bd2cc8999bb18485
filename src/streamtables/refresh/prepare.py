"""After a fill, the programs that the next refresh will most likely need.

They are made by the process that has the plan at hand, so that one that starts later, or on another
machine, finds them and compiles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.refresh.task import Task

_MOST_SETS = 8
"""Queries over many tables would take longer to prepare than to fill."""


def prepare_changes(task: Task, *, small: bool, found: bool) -> None:
    """Make the delta programs for changes of all inputs, and of each alone."""
    facts = task.plan.facts
    if not facts.incremental or task.table.mode == "full":
        return
    for changed in islice(_likely_sets(task), _MOST_SETS):
        task.plan.changes(changed, small=small, found=small and found)
    if not small or facts.state is None:
        return
    if facts.state.copied is None:
        _ = task.plan.state_rows
    if facts.state.may_lose:
        task.plan.lost_groups(found=found)


def _likely_sets(task: Task) -> Iterator[frozenset[str]]:
    # Time has always passed where a query asks for it.
    clock = frozenset({CLOCK_TABLE} if task.plan.facts.reads_clock else ())
    names = [item.name for item in task.followed]
    yield clock | frozenset(names)
    if clock:
        yield clock
    yield from (clock | {name} for name in names)
