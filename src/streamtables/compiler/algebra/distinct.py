"""DISTINCT shows each row once, however often it occurs.

Δδ follows from the keyed rule on all columns.  The trap: two rows that are equal for SQL need not
be the same bytes (0.0 and −0.0), so what is shown is one of them, chosen by the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import Column


@dataclass(frozen=True, eq=False)
class Distinct(Keyed):
    """The rows of the input, each once."""

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.input.names

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns
