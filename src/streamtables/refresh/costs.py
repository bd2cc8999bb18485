"""What past refreshes tell about the cost of the next one."""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.catalog.models import RefreshRecord
from streamtables.refresh.decide import Past, Timing, Way

REMEMBERED = 30
"""How many refreshes back a timing still counts."""


def past_of(history: Sequence[RefreshRecord]) -> Past:
    """Return the last timing of each way; the newest record comes first."""
    computed = [record for record in history if is_computed(record)]
    ways = [_way_of(record) for record in computed]
    last = {way: ways.index(way) for way in set(ways)}

    def timing(way: Way) -> Timing | None:
        found = last.get(way)
        if found is None:
            return None
        record = computed[found]
        return Timing(record.seconds, record.rows_in, cold=record.reason_code == "first-fill")

    return Past(timing("full"), timing("changes"), timing("whole"), last.get("changes", 0))


def is_computed(record: RefreshRecord) -> bool:
    """Whether a refresh did its work to the end, even if the result stayed as it was."""
    if record.state == "applied":
        return True
    return record.state == "no-change" and any("way" in step.facts for step in record.steps)


def _way_of(record: RefreshRecord) -> Way:
    if record.mode == "full":
        return "full"
    whole = any(step.facts.get("way") == "whole" for step in record.steps)
    return "whole" if whole else "changes"
