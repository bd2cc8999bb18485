"""A scrape of the process that leads: what it says, and that it asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import thread_time

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.models import Capture, CaptureEvent, Input, Standing, StreamTable
from streamtables.catalog.scheduler_models import Event, Rules
from streamtables.positions import Drain, Frontier, PgPosition, RefreshId, Sequence, Version
from streamtables.scheduler.book import Book
from tests.unit.catalog.builders import START, at, record, source, stream_table
from tests.unit.observe.scraped import scraped

ORDERS, CUSTOMERS = source("orders"), source("customers")


class Clock:
    now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(tmp_path: Path, clock: Clock) -> Iterator[StreamTables]:
    with StreamTables(tmp_path, clock=clock) as opened:
        yield opened


def reading(name: str, **changes) -> StreamTable:
    inputs = (Input(ORDERS.id, "source"), Input(CUSTOMERS.id, "source"))
    return replace(stream_table(name, schedule="1 minute", **changes), inputs=inputs)


def lead(db: StreamTables, *tables: StreamTable) -> Book:
    """Have the process lead, with tables that stand at version 1 of both sources."""
    frontier = Frontier({ORDERS.id: Version(1), CUSTOMERS.id: Version(1)})
    standings = {
        table.id: Standing(
            version=Version(1),
            sequence=Sequence(1),
            refresh_id=RefreshId("r"),
            frontier=frontier,
            base_frontier=frontier,
            query_hash=table.defining_query_hash,
            updated_at=START,
        )
        for table in tables
    }
    sources = {ORDERS.id: ORDERS, CUSTOMERS.id: CUSTOMERS}
    definitions = Definitions(1, sources, {table.id: table for table in tables})
    book = Book.of(CatalogSnapshot(definitions, standings), Rules(), START)
    book.positions = {ORDERS.id: Version(1), CUSTOMERS.id: Version(1)}
    scheduler = db._scheduler
    scheduler._ticker.book = book
    scheduler._ticker.sources_seen = dict.fromkeys(sources, START)
    scheduler._loop.no_more.until = START + timedelta(days=1)
    return book


def test_a_change_that_waits_shows_its_age_for_its_table_and_its_source(
    db: StreamTables, clock: Clock
) -> None:
    table = reading("revenue", options={"sla": "2 minutes"})
    book = lead(db, table)
    clock.now = at(3)
    assert scraped(db.metrics_text())["lag_seconds{stream_table=revenue}"] == 0
    book.note_source(ORDERS.id, Version(2))
    book.note_changes([table.id], at(3))
    clock.now = at(3) + timedelta(seconds=47.5)
    found = scraped(db.metrics_text())
    assert found["lag_seconds{stream_table=revenue}"] == 47.5
    assert found["source_lag_seconds{source=orders}"] == 47.5
    assert found["source_lag_seconds{source=customers}"] == 0
    assert found["staleness_seconds{stream_table=revenue}"] == 227.5
    assert found["source_staleness_seconds{source=orders}"] == 227.5
    assert found["freshness_state{stream_table=revenue}"] == 0
    book.entries[table.id].freshness = "late"
    assert scraped(db.metrics_text())["freshness_state{stream_table=revenue}"] == 2


def test_states_buffers_workers_and_caches_are_told(db: StreamTables) -> None:
    lead(db, reading("a"), reading("b", state="suspended"), reading("c", state="paused"))
    gauge = db._scheduler._ticker.gauge
    gauge.pending, gauge.growth = {ORDERS.id: 70}, {ORDERS.id: 20}
    for _ in range(5):
        db._around.costs.past(ORDERS.id, list)
    found = scraped(db.metrics_text())
    assert found["scheduler_leads"] == 1
    assert found["tables{state=active}"] == 1
    assert found["tables{state=suspended}"] == 1
    assert found["tables{state=damaged}"] == 0
    assert found["suspended_tables"] == 1
    assert found["change_buffer_rows{source=orders}"] == 70
    assert found["change_buffer_growth_rows{source=orders}"] == 20
    assert found["change_buffer_rows{source=customers}"] == 0
    assert db.scheduler_diagnostics()["change_buffers"] == {
        "orders": {"rows": 70, "growth": 20},
        "customers": {"rows": 0, "growth": 0},
    }
    assert found["cache_hits_total{level=cost}"] == 4
    assert found["cache_hits_total{level=l0}"] == 0
    said = db.scheduler_diagnostics()
    assert found["parallel_queue_depth"] == said["parallel_queue_depth"]
    assert found["worker_slots"] == said["slots"]
    assert found["worker_idle_seconds_total"] == said["worker_idle_seconds_total"]


def test_the_summary_says_the_same_numbers(db: StreamTables) -> None:
    table = reading("a")
    lead(db, table)
    done = record(table.id, state="applied", mode="full", rows_inserted=5, seconds=0.1)
    db._around.observer.refresh_ended("a", done)
    db._catalog.record_events([Event(START, "leader", "host:1 leads")])
    found, said = scraped(db.metrics_text()), db.metrics_summary()
    assert said["refreshes"] == {"full": found["refresh_total{mode=full,stream_table=a}"]}
    inserted = found["rows_changed_total{action=inserted,stream_table=a}"]
    assert said["rows_changed"] == {"inserted": inserted}
    assert said["events"] == {"leader": 1}
    assert said["catalog_queries"] == found["catalog_queries_total"]


def test_a_thousand_tables_cost_no_statement_and_less_than_50_ms(db: StreamTables) -> None:
    tables = [reading(f"shop.table_{number}") for number in range(1_000)]
    lead(db, *tables)
    for table in tables:
        for mode in ("full", "differential"):
            done = record(table.id, state="applied", mode=mode, rows_inserted=1, seconds=0.1)
            db._around.observer.refresh_ended(table.name, done)
    before, seconds = db._catalog.queries, []
    for _ in range(7):
        # Of this thread alone: what else the machine does is not the scrape's.
        began = thread_time()
        text = db.metrics_text()
        seconds.append(thread_time() - began)
    assert db._catalog.queries == before
    assert len(scraped(text)) > 6_000
    assert min(seconds) < 0.05, seconds


def test_a_process_that_does_not_lead_looks_into_the_catalog(db: StreamTables) -> None:
    catalog = db._catalog
    orders = source("orders", kind="postgres")
    capture = Capture(
        source_id=orders.id,
        server="${env:SHOP_URL}",
        database="d",
        tag="t",
        relation=1,
        table_name="public.orders",
        wish="auto",
        mode="triggers",
        shape="{}",
    )
    catalog.add_captured_source(orders, capture, CaptureEvent(orders.id, START, "added", ""))
    drain = Drain("d", 1, PgPosition("1:1:", "0/1"), Frontier({}), START, {orders.id: 12.0})
    assert catalog.record_drain(drain)
    statements = []
    for count in (1, 20):
        for number in range(count):
            inputs = (Input(orders.id, "source"),)
            catalog.create_stream_table(stream_table(f"t{count}_{number}"), inputs)
        before = catalog.queries
        found = scraped(db.metrics_text())
        statements.append(catalog.queries - before)
    assert statements[0] == statements[1] <= 15
    assert found["scheduler_leads"] == 0
    assert found["tables{state=active}"] == 21
    assert found["cdc_lag_p99_seconds{source=orders}"] == 12.0
    assert "lag_seconds{stream_table=t1_0}" not in found


def test_a_leader_that_was_told_to_end_or_lost_its_lease_leads_no_more(db: StreamTables) -> None:
    lead(db, reading("a", options={"sla": "1 minute"}))
    assert scraped(db.metrics_text())["freshness_state{stream_table=a}"] == 0
    db._scheduler._loop.no_more.set()
    found = scraped(db.metrics_text())
    assert found["scheduler_leads"] == 0
    assert "freshness_state{stream_table=a}" not in found


def test_a_refresh_by_another_process_makes_a_table_fresh_too(
    db: StreamTables, clock: Clock
) -> None:
    table = reading("a")
    book = lead(db, table)
    db._around.observer.ended_at[table.id] = at(1)
    clock.now = at(10)
    assert scraped(db.metrics_text())["staleness_seconds{stream_table=a}"] == 540
    book.standings[table.id] = replace(book.standings[table.id], updated_at=at(9))
    assert scraped(db.metrics_text())["staleness_seconds{stream_table=a}"] == 60


def test_the_lease_that_ran_out_ends_what_only_a_leader_knows(
    db: StreamTables, clock: Clock
) -> None:
    lead(db, reading("a"))
    assert "lag_seconds{stream_table=a}" in scraped(db.metrics_text())
    clock.now = START + timedelta(days=2)
    found = scraped(db.metrics_text())
    assert found["scheduler_leads"] == 0
    assert "lag_seconds{stream_table=a}" not in found


def test_a_drain_shows_in_the_percentiles_of_its_source(db: StreamTables, clock: Clock) -> None:
    lead(db, reading("a"))
    db._around.postgres.shop.observer.drained(START, {"orders": 42.5})
    clock.now = at(14)
    found = scraped(db.metrics_text())
    for name in ("p50", "p95", "p99"):
        assert found[f"cdc_lag_{name}_seconds{{source=orders}}"] == 42.5
    clock.now = at(16)
    assert "cdc_lag_p50_seconds{source=orders}" not in scraped(db.metrics_text())
