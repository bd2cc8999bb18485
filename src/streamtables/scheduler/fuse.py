"""The fuse: a change so large that someone should look before it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_ENOUGH = 5
"""How many refreshes with changes it takes to say what is usual."""


@dataclass(frozen=True)
class FuseRule:
    """From how many changed rows on the fuse blows: a number, or a multiple of the usual."""

    rows: int | None
    factor: float | None


def blown(rule: FuseRule, pending_rows: int, recent: Sequence[int]) -> str | None:
    """Return why the fuse blows, with the numbers, or None.

    `recent` are the changed rows of past refreshes; those without changes do not count.
    """
    if rule.rows is not None and pending_rows > rule.rows:
        return f"{pending_rows:,} changed rows are pending, the limit is {rule.rows:,}"
    volumes = [rows for rows in recent if rows > 0]
    if rule.factor is None or len(volumes) < _ENOUGH:
        return None
    usual = median(volumes)
    if pending_rows <= rule.factor * usual:
        return None
    return (
        f"{pending_rows:,} changed rows are pending, more than {rule.factor:g} times the "
        f"median of {usual:,.10g} rows of the last {len(volumes)} refreshes with changes"
    )
