"""The rows of a change buffer that hold no values: a table emptied, a change not captured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.buffer_columns import buffer_name

# A table with children by inheritance can be emptied without them; a partitioned one cannot.
_EMPTIED_WHOLE = """
SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i
                   JOIN pg_catalog.pg_class c ON c.oid = i.inhparent
                   WHERE i.inhparent = %s AND c.relkind = 'r')
"""


@dataclass(frozen=True)
class Mark:
    """A row without values: `T`, a relation was emptied, or `X`, a statement was not captured."""

    seq: int
    action: str
    relation: int
    moved: bool = False
    """Of an `X`: whether rows moved between partitions."""


@dataclass(frozen=True)
class Marks:
    """What the marks between two positions come to."""

    cleared_at: int | None = None
    """The number of the last row before which the whole table was emptied."""
    unexplained: str | None = None
    """Why the captured rows do not lead to the table as it is."""


def read_marks(connection: Connection[Any], tag: str, source: int, after: sql.Composable) -> Marks:
    """Return what the marks of a buffer come to; `after` says which rows count."""
    found = connection.execute(
        sql.SQL(
            "SELECT __st_seq, __st_action::text, __st_relation::int8, "
            "__st_changed IS NOT NULL FROM {} "
            "WHERE __st_action IN ('T', 'X') AND {} ORDER BY __st_seq"
        ).format(buffer_name(tag), after)
    ).fetchall()
    if not found:
        return Marks()
    whole = connection.execute(_EMPTIED_WHOLE, (source,)).fetchone() == (True,)
    return judge([Mark(*row) for row in found], source if whole else None)


def judge(marks: Sequence[Mark], whole: int | None) -> Marks:
    """Return what marks come to, in their order; `whole` is emptied with all that is below it.

    >>> judge([Mark(4, "T", 100), Mark(5, "T", 101)], 100)
    Marks(cleared_at=5, unexplained=None)
    """
    cleared_at = None
    partition = None
    for mark in marks:
        if mark.moved:
            return Marks(unexplained="a MERGE moved rows between partitions")
        if mark.action == "X":
            return Marks(unexplained="a statement met columns other than those that are captured")
        if mark.relation == whole:
            cleared_at, partition = mark.seq, None
        elif cleared_at == mark.seq - 1:
            # Emptying a table fires the triggers of its partitions right after its own.
            cleared_at = mark.seq
        else:
            partition = mark
    if partition is not None:
        return Marks(unexplained="a partition was emptied, and its rows are not known")
    return Marks(cleared_at)
