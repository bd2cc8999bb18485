"""Running the compiler's programs: small ones to Arrow on the driver, large ones to a DataFrame.

A program's key sets are computed once.  In a small run their rows are kept on the driver and bound
again as rows; in a large one they are views, and Spark decides.
"""

from __future__ import annotations

import pyarrow as pa

from streamtables.compiler.backend.statement import Program
from streamtables.engine.binding import bind
from streamtables.engine.collect import fetch
from streamtables.engine.handles import Rows, Session
from streamtables.engine.spark_errors import spark_border


def run_small(spark: Session, program: Program, *, rows_max: int) -> pa.Table | None:
    """Return the program's rows; None as soon as a part of it has more than `rows_max`."""
    for step in program.steps:
        rows = _fetched(spark, step.sql, rows_max)
        if rows is None:
            return None
        bind(spark, step.name, rows)
    return _fetched(spark, program.sql, rows_max)


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
