"""Running the compiler's programs: small ones to Arrow on the driver, large ones to a DataFrame.

A program's key sets are computed once.  In a small run their rows are kept on the driver and bound
again as rows; in a large one they are views, and Spark decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from streamtables.compiler.backend.statement import Program
from streamtables.engine.binding import bind
from streamtables.engine.collect import fetch
from streamtables.engine.handles import Rows, Session
from streamtables.engine.spark_errors import spark_border


@dataclass(frozen=True)
class SmallResult:
    """The rows of a program, and those of its steps."""

    rows: pa.Table
    steps: tuple[pa.Table, ...]


def run_small(spark: Session, program: Program, *, rows_max: int) -> SmallResult | None:
    """Return the program's rows; None as soon as a part of it has more than `rows_max`."""
    steps = []
    for step in program.steps:
        rows = _fetched(spark, step.sql, rows_max)
        if rows is None:
            return None
        bind(spark, step.name, rows)
        steps.append(rows)
    rows = _fetched(spark, program.sql, rows_max)
    return None if rows is None else SmallResult(rows, tuple(steps))


def reads(program: Program, view: str) -> bool:
    """Whether a program reads a view; what it does not read need not be bound."""
    quoted = f"`{view}`"
    return any(quoted in sql for sql in (program.sql, *(step.sql for step in program.steps)))


def run_large(spark: Session, program: Program) -> Rows:
    """Return the program's result as a DataFrame that is not computed yet."""
    with spark_border():
        for step in program.steps:
            bind(spark, step.name, spark.sql(step.sql))
        return spark.sql(program.sql)


def _fetched(spark: Session, sql: str, rows_max: int) -> pa.Table | None:
    with spark_border():
        rows = spark.sql(sql)
    return fetch(rows, rows_max)
