"""Every metric: its name, kind, labels and help, in one place.

A label has few values: the names of tables and sources that exist, or words from a fixed list.
Units are in the names: `_seconds`, `_rows`, `_bytes`; counters end in `_total`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PREFIX = "streamtables_"

Kind = Literal["counter", "gauge", "histogram"]

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""The upper bounds of histograms of seconds."""
RATIOS = (0.1, 0.25, 0.5, 0.8, 1.25, 2.0, 4.0, 10.0)


# Without equality: there is one of each, and a scrape looks it up for every number.
@dataclass(frozen=True, eq=False)
class Metric:
    """One metric; `name` is without the prefix that all of them share."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()

    @property
    def full_name(self) -> str:
        """The name under which it is scraped."""
        return PREFIX + self.name


def _counter(name: str, *labels: str, help: str) -> Metric:
    return Metric(name, "counter", labels, help)


def _gauge(name: str, *labels: str, help: str) -> Metric:
    return Metric(name, "gauge", labels, help)


def _histogram(name: str, *labels: str, help: str, buckets: tuple[float, ...] = SECONDS) -> Metric:
    return Metric(name, "histogram", labels, help, buckets)


# Refreshes

REFRESHES = _counter(
    "refresh_total",
    "stream_table",
    "mode",
    help="Refreshes that brought a table to its pins, by mode: full, differential or no-change.",
)
REFRESH_SECONDS = _histogram(
    "refresh_seconds", "mode", help="Seconds that those refreshes took, over all tables."
)
REFRESH_FAILURES = _counter(
    "refresh_failures_total",
    "stream_table",
    "code",
    help="Refreshes that failed, by the code of the error.",
)
REFRESHES_UNFINISHED = _counter(
    "refresh_unfinished_total",
    "outcome",
    help="Refreshes that gave way: superseded by another process, deferred to a later round, or "
    "cancelled by a person.",
)
ROWS_CHANGED = _counter(
    "rows_changed_total",
    "stream_table",
    "action",
    help="Rows that refreshes wrote, by action: inserted or deleted; an update is one of each.",
)
FULL_FALLBACKS = _counter(
    "full_fallbacks_total",
    "stream_table",
    "reason",
    help="Full refreshes of tables that are otherwise kept by changes, by the code of the reason.",
)
COST_RATIO = _histogram(
    "cost_model_ratio",
    "way",
    help="Predicted seconds of a refresh divided by those it took, by the way it went.",
    buckets=RATIOS,
)
LOCK_MODES = _counter(
    "ivm_lock_mode_total",
    "mode",
    help="Writes through this package by what they locked: key, table, exclusive, or "
    "exclusive_due_to_parse_error.",
)
REFUSALS = _counter(
    "refusals_total",
    "code",
    help="Queries that were defined and cannot be kept by changes, by the code of the refusal.",
)
VERIFICATIONS = _counter(
    "verify_total", "result", help="Tables compared with their query: equal or different."
)

# Tables

STALENESS = _gauge(
    "staleness_seconds",
    "stream_table",
    help="Seconds since the last refresh of the table that went well.",
)
LAG = _gauge(
    "lag_seconds",
    "stream_table",
    help="For how long the oldest change that the table lacks has been known; 0 when it has all.",
)
PROMISE = _gauge(
    "freshness_state",
    "stream_table",
    help="Of tables with a target_lag or an sla: 0 as wanted, 1 at risk, 2 late.",
)
TABLES = _gauge("tables", "state", help="Stream tables by their state.")
SUSPENDED = _gauge("suspended_tables", help="Stream tables that are suspended.")

# Sources

SOURCE_STALENESS = _gauge(
    "source_staleness_seconds",
    "source",
    help="Seconds since the scheduler last saw where the source stands.",
)
SOURCE_LAG = _gauge(
    "source_lag_seconds",
    "source",
    help="For how long the oldest change of the source that some table lacks has been known.",
)
BUFFER_ROWS = _gauge(
    "change_buffer_rows",
    "source",
    help="Changed rows that wait for the slowest table; counted once a source is late for two "
    "ticks in a row, and 0 before.",
)
BUFFER_GROWTH = _gauge(
    "change_buffer_growth_rows",
    "source",
    help="By how many rows that grew from the tick before to the last one.",
)
CDC_LAG_P50 = _gauge(
    "cdc_lag_p50_seconds",
    "source",
    help="From the commit at the source to the mirror, or from that of a Delta table to a stream "
    "table: half of the arrivals of the last 15 minutes stayed below. With triggers from the start "
    "of the transaction, unless the server has track_commit_timestamp.",
)
CDC_LAG_P95 = _gauge(
    "cdc_lag_p95_seconds", "source", help="The same for nineteen of twenty arrivals."
)
CDC_LAG_P99 = _gauge(
    "cdc_lag_p99_seconds", "source", help="The same for ninety-nine of a hundred arrivals."
)
CAPTURE_ROWS = _gauge(
    "capture_waiting_rows",
    "source",
    help="Changed rows of a captured table that the last drain found on its server.",
)
WAL_PENDING = _gauge(
    "wal_decoder_pending_records",
    "server",
    help="Changes that the last look at the log of a server found waiting in our slot.",
)
WAL_POLL_SECONDS = _histogram(
    "wal_poll_seconds",
    "server",
    help="Seconds of one look at a captured server, the drain it led to included.",
)
WAL_POLL_ROWS = _counter(
    "wal_poll_rows_total", "server", help="Changed rows that drains brought from a captured server."
)
WAL_LAG_BYTES = _gauge(
    "wal_lag_bytes",
    "server",
    help="How much of the log of a server its slot had not confirmed when the last drain began.",
)
WAL_FALLBACK = _gauge(
    "wal_fallback",
    "source",
    "reason",
    help="1 for a source that triggers capture though the WAL would do: blocked, moving, "
    "slot-lost or slot-too-large.",
)

# Publications

PUBLICATION_LAG = _gauge(
    "publication_lag_versions",
    "publication",
    "subscriber",
    help="Versions that a subscriber has not acknowledged, as of the last look.",
)
PUSHED_ROWS = _counter(
    "publication_rows_total", "publication", "sink", help="Changed rows that were pushed."
)
PUSH_FAILURES = _counter(
    "publication_failures_total", "publication", "sink", help="Pushes that failed."
)

# The scheduler

TICK_SECONDS = _histogram("scheduler_tick_seconds", help="Seconds of one tick of the scheduler.")
LEADS = _gauge("scheduler_leads", help="1 while this process leads.")
QUEUE_DEPTH = _gauge("parallel_queue_depth", help="Tables that are ready and wait for a worker.")
WORKERS = _gauge("worker_slots", help="How many refreshes may run at a time.")
WORKERS_RUNNING = _gauge("workers_running", help="How many refreshes run.")
WORKER_IDLE = _counter(
    "worker_idle_seconds_total", help="Seconds without work, summed over all worker threads."
)

# Inside

CATALOG_QUERIES = _counter("catalog_queries_total", help="Statements sent to the catalog.")
CACHE_HITS = _counter(
    "cache_hits_total", "level", help="Found in a cache: l1, l0, l2 of plans, or cost of timings."
)
CACHE_MISSES = _counter("cache_misses_total", "level", help="Not found in a cache.")
CACHE_EVICTIONS = _counter(
    "cache_evictions_total", "level", help="What a cache let go for want of room."
)
EVENTS = _counter("events_total", "kind", help="Events that were recorded, by kind.")
SINK_SENT = _counter("sink_sent_total", "sink", help="Notices that a sink delivered.")
SINK_RETRIES = _counter("sink_retries_total", "sink", help="Attempts of a sink that failed.")
SINK_DROPPED = _counter(
    "sink_dropped_total", "sink", help="Notices that a sink gave up, or had no room for."
)

METRICS: tuple[Metric, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Metric)
)
"""All of them, in the order of this file."""
