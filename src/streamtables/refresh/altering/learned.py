"""Readers of a table whose columns only Spark could tell, once it has told others than before."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from streamtables.catalog.changes_together import ChangesTogether
from streamtables.catalog.models import Column, StreamTable
from streamtables.errors import CommitConflictError
from streamtables.refresh.altering.readers import CarryOver, with_table
from streamtables.refresh.surroundings import Surroundings

ATTEMPTS = 5


def carry_learned(table: StreamTable, around: Surroundings) -> bool:
    """Define readers anew over the columns that a table turned out to have.

    `table` is what was known before.  A reader that no longer compiles keeps its definition and
    fails at its own refresh.  Returns whether a reader is defined anew.
    """
    for attempt in range(1, ATTEMPTS + 1):
        snapshot = around.catalog.snapshot()
        now = snapshot.definitions.stream_table(table.id)
        if _shown(now.columns) == _shown(table.columns):
            return False
        known = replace(now, columns=table.columns, key_columns=table.key_columns)
        before = replace(snapshot, definitions=with_table(snapshot.definitions, known))
        over = CarryOver(before, snapshot.definitions, ())
        over.run(table.id)
        steps = [item.restated for item in over.carried]
        with suppress(CommitConflictError):
            change = ChangesTogether(snapshot.generation, steps)
            around.catalog.change_together(change, at=around.clock())
            return bool(steps)
        around.pause(attempt)
    raise CommitConflictError(f'the readers of "{table.name}" changed again and again')


def _shown(columns: tuple[Column, ...]) -> list[tuple[str, str]]:
    return [(column.name.lower(), column.type) for column in columns]
