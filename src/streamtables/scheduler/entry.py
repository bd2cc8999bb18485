"""One stream table as the leader knows it between its ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from streamtables.catalog.models import StreamTable
from streamtables.positions import InputId, Version
from streamtables.scheduler.due import Timing, next_due
from streamtables.scheduler.freshness import Judgement
from streamtables.scheduler.holds import STOPPED, Hold
from streamtables.scheduler.options import TableOptions
from streamtables.scheduler.schedule import Manual, OnChange, Schedule


@dataclass
class Entry:
    """One stream table: what is wanted of it, and what became of it."""

    table: StreamTable
    schedule: Schedule
    options: TableOptions
    roots: frozenset[InputId]
    last_started: datetime | None = None
    not_before: datetime | None = None
    """Until when it waits after a failure."""
    look_at: datetime | None = None
    """When what holds it back is looked at again."""
    failures: int = 0
    unexpected: int = 0
    """How many of these failures nobody expected."""
    behind_since: datetime | None = None
    hold: Hold | None = None
    said: set[str] = field(default_factory=lambda: {"skipped"})
    """What was told of it and still holds: `skipped`, `coalesced`, `deferred`.

    At first it counts as skipped: that it lacks nothing is told of a table that was refreshed.
    """
    let_be: dict[InputId, Version] | None = None
    """Where its sources stood when somebody stopped it; no change before them starts it again."""
    freshness: Judgement = "ok"
    typical_seconds: float = 0.0
    waits_for_time: bool | None = None
    """Whether the passing of time alone changes it; None until someone has looked."""

    # A tick asks these of every table that is due; definition and schedule stay as they are.

    @cached_property
    def follows_changes(self) -> bool:
        """Whether a change of a source makes it due, and not the time."""
        return isinstance(self.schedule, OnChange)

    @cached_property
    def runs_by_itself(self) -> bool:
        """Whether it is ever started without being asked for."""
        by_schedule = not isinstance(self.schedule, Manual) and self.table.tier != "frozen"
        return by_schedule and self.table.state not in STOPPED

    @property
    def is_unsettled(self) -> bool:
        """Whether its last refresh failed or was put off: it is tried again until one goes well.

        Also where it lacks nothing any more, say because a server is back that has nothing new:
        else its last refresh would stay a failure until something changes.
        """
        return bool(self.failures) or "deferred" in self.said

    @property
    def timing(self) -> Timing:
        """What it depends on when it is due."""
        table = self.table
        waits = max((at for at in (self.not_before, self.look_at) if at), default=None)
        return Timing(self.schedule, table.tier, self.last_started, table.created_at, waits)

    def due_at(self, now: datetime) -> datetime | None:
        """Return the moment from which it is due."""
        return next_due(self.timing, now)
