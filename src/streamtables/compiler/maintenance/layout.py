"""What is stored for a stream table: the visible columns first, then hidden ones.

    key       columns that locate a row, compared null-safe; () is the one row of a global
              aggregate, None a bag, whose equal rows are told apart by an ordinal
    hidden    key columns that the query does not show, and the state of stored-state aggregates

A key only *locates* rows.  What a change takes away or adds is always a whole row, compared by its
binary image.  A declared key that is not unique is an error when it shows, never a wrong result.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.types import SqlType

ROWS = "__st_rows"
ORDINALS = ("__st_sequence", "__st_position")


@dataclass(frozen=True)
class Layout:
    """The columns of a stored table, in order, and those that locate a row."""

    visible: tuple[tuple[str, SqlType], ...]
    hidden: tuple[tuple[str, SqlType], ...]
    key: tuple[str, ...] | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all stored columns except a bag's ordinals."""
        return tuple(name for name, _ in (*self.visible, *self.hidden))
