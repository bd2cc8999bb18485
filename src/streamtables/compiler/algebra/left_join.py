"""LEFT OUTER JOIN: every left row, with each match; with NULLs where there is none.

The trap: a right row that arrives takes the padded row away once, however many arrive with it.
RIGHT is LEFT with the sides swapped; FULL adds the right rows that match nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.algebra.node import Column
from streamtables.compiler.algebra.probe import Probe


@dataclass(frozen=True, eq=False)
class LeftJoin(Probe):
    """The left rows beside their matches, or beside NULLs."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + self.right.columns

    @property
    def key(self) -> tuple[str, ...] | None:
        if self.left.key is None or self.matches_once:
            return self.left.key
        return None if self.right.key is None else (*self.left.key, *self.right.key)
