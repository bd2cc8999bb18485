"""Whether a left row has a match: SEMI keeps the rows that do, ANTI the others, MARK says it.

EXISTS and IN become one of these.  A mark stands for the answer where a plain filter cannot: under
OR, in CASE, in the select list.  The trap: the match of a deleted left row is looked up in the new
right side, like that of an inserted one, and what the right side changed is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.compiler.algebra.node import Column
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.types import BOOLEAN

Mode = Literal["semi", "anti", "mark"]


@dataclass(frozen=True, eq=False)
class Existence(Probe):
    """The left rows that have a match (semi), have none (anti), or all with the answer (mark)."""

    mode: Mode
    mark: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        marked = (Column(self.mark, BOOLEAN),) if self.mode == "mark" else ()
        return self.left.columns + marked

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.left.key
