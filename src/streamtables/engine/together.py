"""Small programs of several tables in one statement of Spark.

A statement has a price of its own, however few rows it computes, so programs that read nothing but
one input's changes are written as branches of one UNION ALL.  A branch fills columns of its own and
says by a number whose its rows are.  NULL stands in the columns of the others, and takes their
types, so that each program's rows come out as it alone would give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.backend.statement import Program
from streamtables.engine.binding import FEW_ROWS, bind
from streamtables.engine.collect import fetch
from streamtables.engine.handles import Session
from streamtables.engine.session import tiny_rows
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier

_BRANCH = "__st_branch"


@dataclass(frozen=True)
class Branch:
    """A program, and the changes that it reads under the name of a view."""

    program: Program
    view: str
    changes: pa.Table

    @property
    def fits(self) -> bool:
        """Whether the program reads nothing but few changes, and Arrow says what its rows are."""
        program = self.program
        elsewhere = program.steps or program.lookups or program.reads_table or program.large
        plain = "collate" not in program.sql.lower()
        return not elsewhere and plain and bool(program.columns) and self.few

    @property
    def width(self) -> int:
        """How many columns its rows have."""
        return len(self.program.columns)

    @property
    def few(self) -> bool:
        """Whether the changes may be a part of Spark's plan."""
        return 0 < int(self.changes.num_rows) <= FEW_ROWS


def run_together(
    spark: Session, branches: Sequence[Branch], *, rows_max: int
) -> list[pa.Table] | None:
    """Return the rows of each branch; None when all of them are more than `rows_max`.

    Branches follow the same change: those that read the same columns of it read the same rows.
    """
    bound: dict[tuple[str, ...], str] = {}
    for branch in branches:
        columns = (branch.view, *branch.changes.column_names)
        if columns not in bound:
            bound[columns] = f"{branch.view}_{len(bound)}"
            bind(spark, bound[columns], branch.changes)
    widths = [len(branch.program.columns) for branch in branches]
    texts = []
    for number, branch in enumerate(branches):
        relation = bound[(branch.view, *branch.changes.column_names)]
        texts.append(_branch_text(branch, relation, number, widths))
    with tiny_rows(spark), spark_border():
        rows = fetch(spark.sql(" UNION ALL ".join(texts)), rows_max)
    if rows is None:
        return None
    return [_rows_of(rows, number, branch) for number, branch in enumerate(branches)]


def _branch_text(branch: Branch, relation: str, number: int, widths: Sequence[int]) -> str:
    """Return one branch; a CTE has the name that its program knows the changes by."""
    shown = [f"{number} AS {identifier(_BRANCH)}"]
    for other, width in enumerate(widths):
        for at in range(width):
            value = identifier(branch.program.columns[at]) if other == number else "NULL"
            shown.append(f"{value} AS {identifier(_column(other, at))}")
    changes = f"{identifier(branch.view)} AS (SELECT * FROM {identifier(relation)})"
    return f"(WITH {changes} SELECT {', '.join(shown)} FROM ({branch.program.sql}))"


def _rows_of(rows: pa.Table, number: int, branch: Branch) -> pa.Table:
    mine = rows.filter(pc.equal(rows[_BRANCH], number))
    columns = branch.program.columns
    picked = mine.select([_column(number, at) for at in range(len(columns))])
    return picked.rename_columns(list(columns))


def _column(branch: int, at: int) -> str:
    return f"__st_{branch}_{at}"
