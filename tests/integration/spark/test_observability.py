"""Metrics, logs, notices and traces of real refreshes through the scheduler."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from streamtables.api import StreamTables
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.session import SparkSessions
from streamtables.observe.declared import METRICS
from streamtables.observe.notices import Notice
from streamtables.observe.traces import Traces
from streamtables.positions import Version
from tests.support.moved_clock import Clock
from tests.support.settings import settings_with
from tests.support.shop import REVENUE, Shop, change
from tests.support.spark_oracle import assert_equal_to_query
from tests.unit.observe.scraped import scraped

CANARY = "CANARY-4711"

# What needs a PostgreSQL source, or something that did not happen here.
NOT_HERE = {
    "capture_waiting_rows",
    "wal_decoder_pending_records",
    "wal_poll_seconds",
    "wal_poll_rows_total",
    "wal_lag_bytes",
    "wal_fallback",
    "publication_failures_total",
    "publication_lag_versions",
    "publication_rows_total",
}


class Told:
    """Stands for the webhook, and keeps what it is given."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def send(self, notice: Notice) -> None:
        self.notices.append(notice)

    def close(self) -> None:
        pass


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path, clock: Clock) -> Iterator[StreamTables]:
    settings = settings_with(log_level="debug", log_format="json")
    with StreamTables(
        tmp_path / "w", spark=spark_sessions.get(), settings=settings, clock=clock
    ) as opened:
        yield opened


def test_refreshes_through_the_scheduler_show_in_every_metric_that_applies(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("revenue", REVENUE, schedule="1 minute", options={"sla": "5 minutes"})
    db.create("rich", "SELECT region FROM revenue WHERE total > 2", schedule="1 minute")
    db.create("always", "SELECT rand() AS r FROM orders", schedule="manual", mode="full")
    first = db.tick()
    change(shop)
    clock.forward(61)
    second = db.tick()
    clock.forward(5)
    assert db.tick() == []
    db.refresh("revenue")
    table = db._catalog.stream_table("revenue")
    db._catalog.set_state(table.id, "needs-rebuild", "for the test", at=clock())
    clock.forward(60)
    third = db.tick()
    db.create("broken", "SELECT CAST(note AS INT) AS n FROM orders", schedule="1 minute")
    failed = [result for result in db.tick() if result.outcome == "failed"]
    assert len(failed) == 1
    assert failed[0].error is not None
    clock.forward(5)
    db.tick()
    assert db.verify("rich").equal

    before = db._catalog.queries
    found = scraped(db.metrics_text())
    assert db._catalog.queries == before

    done = [result for result in (*first, *second, *third) if result.table == "revenue"]
    assert [(result.mode, result.outcome) for result in done] == [
        ("full", "applied"),
        ("differential", "applied"),
        ("full", "applied"),
    ]
    assert found["refresh_total{mode=full,stream_table=revenue}"] == 2
    assert found["refresh_total{mode=differential,stream_table=revenue}"] == 1
    assert found["refresh_total{mode=no-change,stream_table=revenue}"] == 1
    inserted = sum(result.rows_inserted for result in done)
    deleted = sum(result.rows_deleted for result in done)
    assert found["rows_changed_total{action=inserted,stream_table=revenue}"] == inserted > 0
    assert found["rows_changed_total{action=deleted,stream_table=revenue}"] == deleted > 0
    assert found["full_fallbacks_total{reason=rebuild,stream_table=revenue}"] == 1
    code = failed[0].error.code
    assert found[f"refresh_failures_total{{code={code},stream_table=broken}}"] == 1
    counted = sum(v for k, v in found.items() if k.startswith("refresh_total{"))
    assert counted == sum(v for k, v in found.items() if k.startswith("refresh_seconds_count{"))
    assert found["scheduler_tick_seconds_count"] == db.scheduler_diagnostics()["ticks"] == 6
    assert found["tables{state=suspended}"] == found["suspended_tables"] == 1
    assert found["tables{state=active}"] == 3
    assert found["verify_total{result=equal}"] == 1
    assert found["lag_seconds{stream_table=revenue}"] == 0
    assert found["staleness_seconds{stream_table=revenue}"] == 5
    assert found["source_staleness_seconds{source=orders}"] == 0
    assert found["events_total{kind=suspended}"] == 1
    assert found["events_total{kind=fell-back-to-full}"] == 1
    assert found["catalog_queries_total"] == before
    missing = {
        metric.name
        for metric in METRICS
        if not any(name.startswith((f"{metric.name}{{", f"{metric.name}_")) for name in found)
        and metric.name not in found
    }
    assert missing == NOT_HERE
    for name in ("revenue", "rich"):
        assert_equal_to_query(db, name)


def test_a_change_of_a_delta_table_shows_its_age_when_a_table_has_it(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("ids", "SELECT id FROM orders")
    db.refresh("ids")
    known = shop.orders.open().version()
    change(shop)
    log = DeltaLog(str(shop.orders.path))
    first = log.entry(Version(known + 1))
    assert first is not None
    clock.now = datetime.fromtimestamp(first.timestamp_ms / 1000, UTC) + timedelta(seconds=90)
    db.refresh("ids")
    # A second look brings nothing, and has nothing to tell.
    clock.forward(60)
    db.refresh("ids")
    found = scraped(db.metrics_text())
    for share in ("p50", "p95", "p99"):
        assert found[f"cdc_lag_{share}_seconds{{source=orders}}"] == 90
    assert "cdc_lag_p50_seconds{source=customers}" not in found
    assert_equal_to_query(db, "ids")
    db.drop("ids")
    db.drop_source("orders")
    assert "cdc_lag_p50_seconds{source=orders}" not in scraped(db.metrics_text())


def test_a_value_of_a_row_is_in_no_log_line_and_no_notice(
    db: StreamTables, shop: Shop, clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    told, stream = Told(), io.StringIO()
    db._around.observer.webhook = told  # type: ignore[assignment]  # the part of it that is used
    db.write_logs(stream)
    capfd.readouterr()
    shop.orders.append((9, 10, "1.00", CANARY))
    db.create(
        "broken", "SELECT CAST(note AS INT) AS n FROM orders WHERE id = 9", schedule="1 minute"
    )
    db.create("well", "SELECT id, note FROM orders", schedule="1 minute")
    outcomes = {result.table: result for result in db.tick()}
    assert outcomes["well"].outcome == "applied"
    error = outcomes["broken"].error
    assert error is not None
    assert CANARY in error.detail
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    ended = {line["table"]: line for line in lines if line["event"] == "refresh ended"}
    assert ended["broken"]["error"] == error.code
    assert ended["well"]["outcome"] == "applied"
    chosen = [line for line in lines if line["event"] == "way chosen"]
    assert {line["table"] for line in chosen} == {"broken", "well"}
    assert all(line["refresh_id"] for line in chosen)
    assert [notice.kind for notice in told.notices] == ["suspended"]
    assert error.code in told.notices[0].text
    for place in (stream.getvalue(), repr(told.notices), db.metrics_text(), *capfd.readouterr()):
        assert CANARY not in place


def test_a_difference_that_verify_finds_is_told(db: StreamTables, shop: Shop) -> None:
    told = Told()
    db._around.observer.webhook = told  # type: ignore[assignment]  # the part of it that is used
    table = db.create("ids", "SELECT id FROM orders")
    db.refresh("ids")
    # The same fingerprint under another query: what is stored is wrong by one row.
    wrong = "SELECT id FROM orders WHERE id > 1"
    db._catalog.alter_stream_table(table.id, at=db._around.clock(), query=wrong)
    db.clear_caches()
    assert not db.verify("ids").equal
    assert db.events("ids")[0].kind == "verify-difference"
    assert told.notices[0].text == "0 rows are missing and 1 are too many"
    assert scraped(db.metrics_text())["verify_total{result=different}"] == 1


def test_a_refresh_gives_one_span_with_its_steps(db: StreamTables, shop: Shop) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    db._around.observer.traces = Traces(provider)
    db.create("ids", "SELECT id FROM orders")
    result = db.refresh("ids")
    *steps, whole = exporter.get_finished_spans()
    assert whole.name == "refresh ids"
    assert [span.name for span in steps] == [name for name, _ in result.steps]
    assert len(steps) > 1


def test_spark_is_told_whose_work_it_does(db: StreamTables, shop: Shop) -> None:
    sessions = db._around.sessions
    with sessions.lease("quick", tag="r-1", label="sales.revenue") as spark:
        assert spark.getTags() == {"r-1", "streamtables sales.revenue"}
    with sessions.lease("quick") as spark:
        assert spark.getTags() == set()
