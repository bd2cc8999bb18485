"""What the scheduler's book says at the moment of a scrape, as samples of metrics.

Everything is in memory already: a scrape asks neither the catalog nor a source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from streamtables.observe import declared as metric
from streamtables.observe.counts import Sample
from streamtables.observe.lag_window import RECENT
from streamtables.observe.observer import Observer
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.counts import LEVELS
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book

STATES = ("active", "paused", "suspended", "damaged", "needs-rebuild")
COST = "cost"
"""The level of the cache of timings, beside those of plans."""
_JUDGED = {"ok": 0.0, "at-risk": 1.0, "late": 2.0}


@dataclass(frozen=True)
class Leading:
    """What only the process that leads knows of its sources."""

    sources_seen: Mapping[InputId, datetime] = field(default_factory=dict)
    pending: Mapping[InputId, int] = field(default_factory=dict)
    growth: Mapping[InputId, int] = field(default_factory=dict)


def table_samples(book: Book, observer: Observer, now: datetime) -> Iterator[Sample]:
    """Give what is known of every stream table."""
    states = Counter(e.table.state for e in book.entries.values() if not e.table.is_internal)
    for state in STATES:
        yield metric.TABLES, (state,), states[state]  # type: ignore[index]  # one of its states
    yield metric.SUSPENDED, (), states["suspended"]
    for key, entry in book.entries.items():
        if entry.table.is_internal:
            continue
        standing = book.standings.get(key)
        # Refreshed here, perhaps without a change; or by another process, as the catalog says.
        ended = (observer.ended_at.get(key), standing.updated_at if standing else None)
        if known := [moment for moment in ended if moment is not None]:
            yield metric.STALENESS, (entry.table.name,), _age(now, max(known))


def lag_samples(book: Book, leading: Leading, now: datetime) -> Iterator[Sample]:
    """Give how far every table and every source is behind, as the leader knows it."""
    by_source: dict[InputId, float] = dict.fromkeys((s.id for s in book.watched), 0.0)
    for key, entry in book.entries.items():
        since = entry.behind_since
        lag = _age(now, since) if since else 0.0
        if not entry.table.is_internal:
            yield metric.LAG, (entry.table.name,), lag
        if since and (standing := book.standings.get(key)):
            for root in entry.roots & by_source.keys():
                if standing.base_frontier.get(root) != book.positions.get(root):
                    by_source[root] = max(by_source[root], lag)
    for entry in book.promised:
        yield metric.PROMISE, (entry.table.name,), _JUDGED[entry.freshness]
    for source in book.watched:
        name = (source.name,)
        yield metric.SOURCE_LAG, name, by_source[source.id]
        yield metric.BUFFER_ROWS, name, leading.pending.get(source.id, 0)
        yield metric.BUFFER_GROWTH, name, leading.growth.get(source.id, 0)
        if (seen := leading.sources_seen.get(source.id)) is not None:
            yield metric.SOURCE_STALENESS, name, _age(now, seen)


def arrival_samples(book: Book, observer: Observer, now: datetime) -> Iterator[Sample]:
    """Give how long changes took to arrive: in mirrors, and from Delta tables in stream tables."""
    arrived = {**observer.reaches.recent(now), **observer.lags.recent(now)}
    for source in book.definitions.sources.values():
        if (found := arrived.get(source.name)) is None:
            continue
        yield metric.CDC_LAG_P50, (source.name,), found.p50
        yield metric.CDC_LAG_P95, (source.name,), found.p95
        yield metric.CDC_LAG_P99, (source.name,), found.p99


def process_samples(around: Surroundings, workers: Mapping[str, object]) -> Iterator[Sample]:
    """Give what the parts of this process count by themselves."""
    yield metric.QUEUE_DEPTH, (), _number(workers["parallel_queue_depth"])
    yield metric.WORKERS, (), _number(workers["slots"])
    yield metric.WORKERS_RUNNING, (), _number(workers["running"])
    yield metric.WORKER_IDLE, (), _number(workers["worker_idle_seconds_total"])
    yield metric.CATALOG_QUERIES, (), around.catalog.queries
    costs = around.costs.counts()
    yield metric.CACHE_HITS, (COST,), costs["hits"]
    yield metric.CACHE_MISSES, (COST,), costs["misses"]
    yield metric.CACHE_EVICTIONS, (COST,), costs["evictions"]
    for level in LEVELS:
        plans = around.plans.counts.of(level)
        yield metric.CACHE_HITS, (level,), plans.hits
        yield metric.CACHE_MISSES, (level,), plans.misses
        yield metric.CACHE_EVICTIONS, (level,), plans.evictions


def looked(around: Surroundings, now: datetime) -> Book:
    """Open a book for one look, in a process that does not schedule; the lags come with it."""
    know_recent_drains(around, now)
    return Book.of(around.catalog.snapshot(), around.catalog.rules(), now)


def know_recent_drains(around: Surroundings, now: datetime) -> None:
    """Take over from the catalog what drains of any process recorded of their lags."""
    catalog = around.catalog
    databases = catalog.captured_databases()
    names = {source.id: source.name for source in catalog.sources()} if databases else {}
    drains = [
        (drain.at, {names[key]: lag for key, lag in drain.lags.items() if key in names})
        for database in databases
        for drain in catalog.recent_drains(database, now - RECENT)
    ]
    around.observer.lags.begin_with(sorted(drains, key=lambda drain: drain[0]))


def forget_dropped(observer: Observer, book: Book) -> None:
    """Let go of what was counted of tables and sources that are no longer there."""
    tables = {key: entry.table.name for key, entry in book.entries.items()}
    observer.known_are(tables, {source.name for source in book.definitions.sources.values()})


def _age(now: datetime, then: datetime) -> float:
    return max(0.0, (now - then).total_seconds())


def _number(value: object) -> float:
    return float(cast("float", value))
