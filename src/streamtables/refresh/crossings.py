"""Telling people, once, that a definition is beyond a limit."""

from __future__ import annotations

from datetime import datetime

from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.store import Catalog
from streamtables.compiler import Plan
from streamtables.compiler.explaining.thresholds import Threshold, thresholds
from streamtables.compiler.maintenance import Limits

CROSSED = "threshold-crossed"


def record_crossings(
    catalog: Catalog, table: StreamTable, plan: Plan, limits: Limits, at: datetime
) -> None:
    """Record an event for each limit that a new or altered definition crosses.

    What was said about the table before is not said again.
    """
    if not plan.incremental:
        return
    texts = [_text(item) for item in thresholds(plan.maintenance, limits) if item.crossed]
    if not texts:
        return
    said = {event.text for event in catalog.events(table.id) if event.kind == CROSSED}
    new = [text for text in texts if text not in said]
    catalog.record_events([Event(at, CROSSED, text, table.id, table.name) for text in new])


def _text(item: Threshold) -> str:
    value = f"{item.name} is {item.limit:,}, the query has {item.value:,}"
    return f"{value}: {item.effect}. {item.advice}"
