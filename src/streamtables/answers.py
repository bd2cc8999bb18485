"""The types of what the interface answers, in one place for those who stand above it."""

from __future__ import annotations

from streamtables.catalog.models import Column, RefreshRecord, Source, Step, StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.explanation import Explanation
from streamtables.graph import Graph, GraphNode
from streamtables.publications import PublicationStatus, SubscriberStatus
from streamtables.publish.reading import Changes
from streamtables.refresh.results import Refresh
from streamtables.refresh.verify import Verification
from streamtables.scheduler.lags import TableLag
from streamtables.scheduler.status import TableStatus
from streamtables.sources.postgres.status import CaptureStatus
from streamtables.sql_support import SqlSupport
from streamtables.watching import RefreshCount, Standstills

__all__ = [
    "CaptureStatus",
    "Changes",
    "Column",
    "Event",
    "Explanation",
    "Graph",
    "GraphNode",
    "PublicationStatus",
    "Refresh",
    "RefreshCount",
    "RefreshRecord",
    "Source",
    "SqlSupport",
    "Standstills",
    "Step",
    "StreamTable",
    "SubscriberStatus",
    "TableLag",
    "TableStatus",
    "Verification",
]
