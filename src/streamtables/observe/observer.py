"""What the rooms of a running process report: counted, logged, traced and told.

Reporting costs a few dictionary entries; nothing is asked, and nobody waits for a sink.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from streamtables.catalog.models import CHOICE, RefreshRecord
from streamtables.catalog.scheduler_models import Event
from streamtables.observe import declared as metric
from streamtables.observe.counts import Counts
from streamtables.observe.lag_window import LagWindow
from streamtables.observe.notices import KINDS, OTHER, UNKNOWN, kind_of, notice_of
from streamtables.observe.traces import Traces
from streamtables.positions import InputId
from streamtables.settings import Settings

if TYPE_CHECKING:
    from streamtables.observe.webhook import Webhook

FALLBACKS = frozenset({"rebuild", "large-change", "full-was-faster"})
"""Why a table that is kept by changes is recomputed without anybody having asked for it."""

LOCKS = ("key", "table", "exclusive", "exclusive_due_to_parse_error")
"""What writes are counted by."""

_refreshes = logging.getLogger("streamtables.refresh")
_events = logging.getLogger("streamtables.events")


@dataclass(frozen=True)
class Poll:
    """One look at a captured server, and what the drain that it led to brought."""

    server: str
    seconds: float
    waiting: Mapping[str, int] = field(default_factory=dict)
    """Changed rows that were found, by source."""
    pending: int | None = None
    """Changes that waited in the log; None where no log is read."""
    lag_bytes: int | None = None


@dataclass
class Observer:
    """Takes the reports of one open warehouse."""

    counts: Counts = field(default_factory=Counts)
    lags: LagWindow = field(default_factory=LagWindow)
    reaches: LagWindow = field(default_factory=LagWindow)
    webhook: Webhook | None = None
    traces: Traces | None = None
    ended_at: dict[InputId, datetime] = field(default_factory=dict)
    """When each table last had a refresh that went well."""
    _fallen: set[InputId] = field(default_factory=set)
    _captured: dict[str, set[str]] = field(default_factory=dict)
    """The sources of each captured server."""

    def __post_init__(self) -> None:
        # A counter that first shows up above 0 has not grown to those who compute its increase.
        for result in ("equal", "different"):
            self.counts.add(metric.VERIFICATIONS, result, by=0)
        for outcome in ("superseded", "deferred", "cancelled"):
            self.counts.add(metric.REFRESHES_UNFINISHED, outcome, by=0)
        for kind in (*KINDS, OTHER):
            self.counts.add(metric.EVENTS, kind, by=0)
        for mode in LOCKS:
            self.counts.add(metric.LOCK_MODES, mode, by=0)
        for count in (metric.SINK_SENT, metric.SINK_RETRIES, metric.SINK_DROPPED):
            self.counts.add(count, "webhook", by=0)

    @classmethod
    def of(cls, settings: Settings) -> Observer:
        """Return an observer with the sinks that the settings and the environment ask for."""
        observer = cls(traces=Traces.configured())
        if settings.webhook_url:
            # Imported on use: it brings all of HTTP with it.
            from streamtables.observe.webhook import Patience, Webhook

            patience = Patience(settings.webhook_timeout_seconds, settings.webhook_retries)
            observer.webhook = Webhook(settings.webhook_url, observer.counts, patience)
        return observer

    def close(self) -> None:
        """Let sinks deliver what they hold."""
        if self.webhook is not None:
            self.webhook.close()
        if self.traces is not None:
            self.traces.close()

    # Refreshes

    def refresh_ended(self, table: str, record: RefreshRecord) -> None:
        """Count, log and trace a refresh from its record."""
        counts = self.counts
        match record.state:
            case "applied" | "no-change":
                self._went_well(table, record)
            case "failed":
                counts.add(metric.REFRESH_FAILURES, table, record.error_code)
            case _:
                counts.add(metric.REFRESHES_UNFINISHED, record.state)
        _log_refresh(table, record)
        if self.traces is not None:
            self.traces.refresh(table, record)

    def _went_well(self, table: str, record: RefreshRecord) -> None:
        counts = self.counts
        counts.add(metric.REFRESHES, table, record.mode)
        counts.observe(metric.REFRESH_SECONDS, record.mode, value=record.seconds)
        counts.add(metric.ROWS_CHANGED, table, "inserted", by=record.rows_inserted)
        counts.add(metric.ROWS_CHANGED, table, "deleted", by=record.rows_deleted)
        if fell_back(record):
            counts.add(metric.FULL_FALLBACKS, table, record.reason_code)
        if record.finished_at is not None:
            self.ended_at[record.stream_table_id] = record.finished_at
        self._note_prediction(record)

    def _note_prediction(self, record: RefreshRecord) -> None:
        facts = next((step.facts for step in record.steps if step.name == CHOICE), {})
        way = str(facts.get("way"))
        predicted = facts.get(f"predicted_{way}")
        alone = record.alone_seconds
        if record.computed_together or alone <= 0:
            return
        if isinstance(predicted, int | float):
            self.counts.observe(metric.COST_RATIO, way, value=predicted / alone)

    def newly_fell_back(self, record: RefreshRecord) -> bool:
        """Whether a table fell back to full that did not the last time."""
        table, known = record.stream_table_id, record.stream_table_id in self._fallen
        if not fell_back(record):
            self._fallen.discard(table)
            return False
        self._fallen.add(table)
        return not known

    def refused(self, code: str) -> None:
        """Count a definition that cannot be kept by changes."""
        self.counts.add(metric.REFUSALS, code)

    def write_locked(self, mode: str) -> None:
        """A write took its locks."""
        self.counts.add(metric.LOCK_MODES, mode)

    def verified(self, *, equal: bool) -> None:
        """Count a comparison of a table with its query."""
        self.counts.add(metric.VERIFICATIONS, "equal" if equal else "different")

    # Sources

    def polled(self, poll: Poll) -> None:
        """Take in one look at a captured server."""
        counts = self.counts
        counts.observe(metric.WAL_POLL_SECONDS, poll.server, value=poll.seconds)
        counts.add(metric.WAL_POLL_ROWS, poll.server, by=sum(poll.waiting.values()))
        known = self._captured.setdefault(poll.server, set())
        known.update(poll.waiting)
        for source in known:
            counts.set(metric.CAPTURE_ROWS, source, to=poll.waiting.get(source, 0))
        if poll.pending is not None:
            counts.set(metric.WAL_PENDING, poll.server, to=poll.pending)
        if poll.lag_bytes is not None:
            counts.set(metric.WAL_LAG_BYTES, poll.server, to=poll.lag_bytes)

    def drained(self, at: datetime, lags: Mapping[str, float]) -> None:
        """Take in for how long the oldest change of each source had waited."""
        self.lags.note(at, lags)

    def reached(self, at: datetime, lags: Mapping[str, float]) -> None:
        """Take in how old the oldest change of each Delta source was when a table had it."""
        self.reaches.note(at, lags)

    def captured(self, source: str, fallback: str | None) -> None:
        """Say why triggers capture a source that the WAL should; None where all is as wished."""
        self.counts.drop(metric.WAL_FALLBACK, source)
        if fallback is not None:
            self.counts.set(metric.WAL_FALLBACK, source, fallback, to=1)

    # The scheduler

    def ticked(self, seconds: float) -> None:
        """Take in one tick."""
        self.counts.observe(metric.TICK_SECONDS, value=seconds)

    def known_are(self, tables: Mapping[InputId, str], sources: Collection[str]) -> None:
        """Forget tables and sources that are no longer there."""
        self.counts.keep("stream_table", set(tables.values()))
        self.counts.keep("source", sources)
        self._fallen &= tables.keys()
        for key in self.ended_at.keys() - tables.keys():
            del self.ended_at[key]
        for server, known in self._captured.items():
            self._captured[server] = known & set(sources)

    def happened(self, events: Sequence[Event]) -> None:
        """Count and tell what was recorded for people."""
        for event in events:
            self.counts.add(metric.EVENTS, kind_of(event))
            notice = notice_of(event)
            known = KINDS.get(event.kind, UNKNOWN)
            fields = {"kind": event.kind, "subject": event.subject or "all", "text": notice.text}
            _events.log(known.level, "event", extra={"fields": fields})
            if self.webhook is not None and known.topic:
                self.webhook.send(notice)


def fell_back(record: RefreshRecord) -> bool:
    """Whether a refresh recomputed a table that is otherwise kept by changes."""
    full = record.mode == "full" and record.state == "applied"
    return full and record.reason_code in FALLBACKS


def _log_refresh(table: str, record: RefreshRecord) -> None:
    level = {"applied": logging.INFO, "failed": logging.WARNING}.get(record.state, logging.DEBUG)
    if not _refreshes.isEnabledFor(level):
        return
    fields: dict[str, object] = {
        "table": table,
        "refresh_id": record.id,
        "outcome": record.state,
        "mode": record.mode,
        "reason": record.reason_code,
        "rows_inserted": record.rows_inserted,
        "rows_deleted": record.rows_deleted,
        "seconds": record.seconds,
    }
    if record.error_code:
        fields["error"] = record.error_code
    _refreshes.log(level, "refresh ended", extra={"fields": fields})
