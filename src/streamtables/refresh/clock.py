"""The clock as a relation: one row with the moment that a refresh stands for."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from streamtables.compiler.algebra import CLOCK_COLUMN, CLOCK_TABLE
from streamtables.compiler.backend.statement import view_name
from streamtables.engine.binding import bind
from streamtables.engine.handles import Session
from streamtables.positions import CLOCK, Version
from streamtables.refresh.task import Task

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def version_of(moment: datetime) -> Version:
    """Return a moment as the clock's version: whole microseconds."""
    passed = moment - _EPOCH
    return Version((passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds)


def clock_rows(version: Version) -> pa.Table:
    """Return the relation that holds a moment."""
    moment = pa.array([int(version)], pa.timestamp("us", tz="UTC"))
    return pa.table({CLOCK_COLUMN: moment})


def bind_clock(spark: Session, task: Task) -> None:
    """Bind the moments before and after a refresh, for a query that asks for them."""
    if task.clock is None:
        return
    bind(spark, view_name(CLOCK_TABLE, "after"), clock_rows(task.clock))
    if task.standing is not None and CLOCK in task.standing.frontier:
        before = clock_rows(task.standing.frontier[CLOCK])
        bind(spark, view_name(CLOCK_TABLE, "before"), before)
