"""Tables that are promised to be fresh: said when one is late, may become so, or is well again.

They are judged in every tick, whether or not they run: what holds a table back makes it late too.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from streamtables.catalog.scheduler_models import Event
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.freshness import Freshness, judge


def judged(promised: Iterable[Entry], now: datetime) -> list[Event]:
    """Judge the freshness of some tables; return where it is another than before."""
    return [event for entry in promised if (event := _judged(entry, now)) is not None]


def _judged(entry: Entry, now: datetime) -> Event | None:
    wanted = Freshness(entry.options.target_lag, entry.options.sla)
    behind = (now - entry.behind_since).total_seconds() if entry.behind_since else 0.0
    last, entry.freshness = entry.freshness, judge(wanted, behind, entry.typical_seconds)
    if entry.freshness == last:
        return None
    texts = {
        "ok": "it is as fresh as wanted again",
        "at-risk": f"its oldest change waits for {behind:.0f} s: it may come too late",
        "late": f"its oldest change waits for {behind:.0f} s, longer than promised",
    }
    table = entry.table
    return Event(now, f"freshness-{entry.freshness}", texts[entry.freshness], table.id, table.name)
