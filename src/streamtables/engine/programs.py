"""Running the compiler's programs: small ones to Arrow on the driver, large ones to a DataFrame.

A program's steps are computed once.  In a small run their rows are kept on the driver and bound
again as rows; what is too large for that, and every step of a large run, is kept by Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import pyarrow as pa

from streamtables.compiler.backend.statement import Program, Step
from streamtables.engine.binding import FEW_ROWS, bind, keep
from streamtables.engine.collect import fetch
from streamtables.engine.handles import Rows, Session
from streamtables.engine.session import tiny_rows
from streamtables.engine.spark_errors import spark_border

_INLINED_MAX = 30_000
"""How many characters a kept step may stand for.

Spark plans a view by what it stands for, also where the rows are kept: steps that read each other a
few times each become a text of millions of characters, and minutes of planning.  The rows of a
longer one are computed at once, and stand for themselves.
"""


@dataclass(frozen=True)
class SmallResult:
    """The rows of a program, and those of its steps."""

    rows: pa.Table
    steps: tuple[pa.Table | None, ...]
    """The rows of each step; None for one that Spark keeps."""


def run_small(
    spark: Session, program: Program, *, rows_max: int, few: bool = True
) -> SmallResult | None:
    """Return the program's rows; None when there are more than `rows_max`.

    `few` says that what the driver bound is little enough for one task.
    """
    steps: list[pa.Table | None] = []
    collates = _collates(program)
    for step in program.steps:
        fetched = _fetched(spark, step.sql, rows_max, tiny=_is_tiny(step, few))
        if fetched is None:
            keep(spark, step.name, spark.sql(step.sql))
        else:
            rows = bind(spark, step.name, fetched)
            if collates:
                bind(spark, step.name, _collated_again(spark, step.sql, rows))
        few = few and fetched is not None and fetched.num_rows <= FEW_ROWS
        steps.append(fetched)
    answer = _fetched(spark, program.sql, rows_max, tiny=_is_tiny(program, few))
    return None if answer is None else SmallResult(answer, tuple(steps))


def _collates(program: Program) -> bool:
    """Whether a step may make text with a collation; to be asked for its types costs a call."""
    return any("collate" in step.sql.lower() for step in program.steps)


def _collated_again(spark: Session, sql: str, rows: Rows) -> Rows:
    """Return the rows of a step with the collations of its text, which Arrow does not carry."""
    with spark_border():
        types = spark.sql(sql).schema
        return rows.select(*(rows[item.name].cast(item.dataType) for item in types))


def reads(program: Program, view: str) -> bool:
    """Whether a program reads a view; what it does not read need not be bound."""
    quoted = f"`{view}`"
    return any(quoted in sql for sql in (program.sql, *(step.sql for step in program.steps)))


def run_large(spark: Session, program: Program) -> Rows:
    """Return the program's result as a DataFrame that is not computed yet, but for deep steps."""
    lengths: dict[str, int] = {}
    with spark_border():
        for step in program.steps:
            length = _inlined_length(step.sql, lengths)
            if length > _INLINED_MAX:
                bind(spark, step.name, spark.sql(step.sql).localCheckpoint())
                length = len(step.name)
            else:
                keep(spark, step.name, spark.sql(step.sql))
            lengths[step.name] = length
        return spark.sql(program.sql)


def _inlined_length(sql: str, lengths: Mapping[str, int]) -> int:
    """Return how long a text is with every step in the place of its name, as Spark plans it."""
    return len(sql) + sum(sql.count(f"`{name}`") * length for name, length in lengths.items())


def _is_tiny(statement: Step | Program, few: bool) -> bool:
    """Whether a statement reads nothing but few rows that came from the driver."""
    return not statement.reads_table and few


def _fetched(spark: Session, sql: str, rows_max: int, *, tiny: bool) -> pa.Table | None:
    with tiny_rows(spark) if tiny else nullcontext(), spark_border():
        return fetch(spark.sql(sql), rows_max)
