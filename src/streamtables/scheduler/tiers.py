"""Tiers: how much slower than its schedule a table runs.

They stretch intervals only.  A cron keeps its times, which someone chose for a reason; `frozen`
stops it like everything else.
"""

from __future__ import annotations

TIER_FACTOR: dict[str, float | None] = {"hot": 1.0, "warm": 2.0, "cold": 10.0, "frozen": None}


def scaled(seconds: float, tier: str) -> float | None:
    """Return an interval as it is in a tier; None where nothing runs by itself."""
    factor = TIER_FACTOR[tier]
    return None if factor is None else seconds * factor
