"""What the catalog holds of publications, as frozen values.

Publication   a stream table's changes, under a name
Subscriber    who takes them, and up to which version it has them
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from streamtables.catalog.models import Options
from streamtables.positions import Version

SinkKind = Literal["pull", "postgres", "webhook", "kafka"]
SubscriberState = Literal["active", "lagging", "expired"]


@dataclass(frozen=True)
class Publication:
    """A stream table's changes for others; `table_name` may name a table that is to come."""

    id: str
    name: str
    table_name: str
    created_at: datetime


@dataclass(frozen=True)
class Subscriber:
    """One who takes the changes of a publication.

    It has all changes up to `version` of the Delta table whose id is `incarnation`; without a
    version it has nothing and starts from a snapshot.  `offered` is the end of a window that was
    sent and not yet confirmed: it is sent again with the same bounds.
    """

    publication_id: str
    name: str
    created_at: datetime
    acknowledged_at: datetime
    version: Version | None = None
    incarnation: str = ""
    offered: Version | None = None
    sink: SinkKind = "pull"
    sink_options: Options = field(default_factory=dict, hash=False)
    expire_seconds: float | None = None
    state: SubscriberState = "active"
    note: str = ""
    failures: int = 0
    retry_at: datetime | None = None
