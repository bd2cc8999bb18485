"""A part of a relation that is the same part wherever the same rows are."""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.engine.handles import Rows
from streamtables.engine.sql_text import identifier

PARTS = 1_000
_NOT_HASHED = ("map", "variant", "interval", "array", "struct")
_NOT_EXACT = ("float", "double")


def hashed_columns(rows: Rows, key: Sequence[str] | None) -> list[str]:
    """Return the columns by which rows are drawn: the key, or all whose values are exact."""
    usable = [name for name, kind in rows.dtypes if not kind.startswith(_NOT_HASHED + _NOT_EXACT)]
    return list(key) if key and set(key) <= set(usable) else usable


def drawn(rows: Rows, columns: Sequence[str], share: float, draw: int) -> Rows:
    """Return about a share of the rows: those whose values fall into some of the parts.

    The same `draw` gives the same part of every relation with these columns.
    """
    listed = ", ".join(map(identifier, columns))
    wanted = max(1, round(share * PARTS))
    return rows.where(f"pmod(xxhash64({listed}, {int(draw)}L), {PARTS}) < {wanted}")
