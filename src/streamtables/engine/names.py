"""Names that the engine reserves in stored tables and intermediate relations."""

from __future__ import annotations

RESERVED_PREFIX = "__st_"
WEIGHT = "__st_weight"

# The ordinal of a keyless table: the refresh that wrote a row, and its place in that commit.
SEQUENCE = "__st_sequence"
POSITION = "__st_position"
ORDINALS = (SEQUENCE, POSITION)


def without_ordinals(columns: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that say what a row is, not which of several equal rows it is."""
    return tuple(name for name in columns if name not in (*ORDINALS, WEIGHT))
