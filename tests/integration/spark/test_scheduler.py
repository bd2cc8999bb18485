"""The scheduler on real tables: what is due is refreshed, at one moment, and why not is said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import (
    AnotherLeaderError,
    ConfigError,
    InternalError,
    NotFoundError,
    RefreshTimeoutError,
    WouldMixError,
)
from streamtables.refresh.one import RefreshOne
from streamtables.refresh.recording import Recording
from streamtables.refresh.results import Refresh
from tests.support.moved_clock import Clock
from tests.support.settings import settings_with
from tests.support.shop import REVENUE, Shop, change, open_shop
from tests.support.spark_oracle import assert_equal_to_query, stored_bag


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path, clock: Clock) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), clock=clock) as opened:
        yield opened


def names(results) -> list[str]:
    return [result.table for result in results]


def test_a_tick_fills_what_is_due_and_an_idle_tick_asks_one_question(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("revenue", REVENUE, schedule="1 minute")
    db.create("by_hand", "SELECT id FROM orders")
    assert names(db.tick()) == ["revenue"]
    assert_equal_to_query(db, "revenue")
    db.tick()
    for _ in range(3):
        clock.forward(61)
        before = db._catalog.queries
        assert db.tick() == []
        assert db._catalog.queries == before + 1


def test_a_change_waits_for_its_time_or_is_followed_at_once(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("slow", REVENUE, schedule="10 minutes")
    db.create("fast", "SELECT id FROM orders", schedule="on change at most every 5 seconds")
    assert sorted(names(db.tick())) == ["fast", "slow"]
    change(shop)
    clock.forward(4)
    assert db.tick() == []
    clock.forward(2)
    assert names(db.tick()) == ["fast"]
    clock.forward(600)
    assert names(db.tick()) == ["slow"]
    for name in ("slow", "fast"):
        assert_equal_to_query(db, name)


def test_a_due_table_brings_what_it_stands_on_along(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("revenue", REVENUE, schedule="calculated")
    db.create("rich", "SELECT region FROM revenue WHERE total > 2", schedule="1 minute")
    assert names(db.tick()) == ["revenue", "rich"]
    change(shop)
    clock.forward(60)
    assert names(db.tick()) == ["revenue", "rich"]
    assert_equal_to_query(db, "rich")


def test_a_read_of_several_tables_gives_the_last_moment_at_which_they_agree(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("slow", "SELECT count(*) AS n FROM orders", schedule="1 hour")
    db.create("fast", "SELECT id FROM orders", schedule="1 minute")
    db.tick()
    first = db.epoch()
    shop.orders.append((9, 10, "1.00", "i"))
    clock.forward(60)
    assert names(db.tick()) == ["fast"]
    assert db.read("fast").count() == 5
    both = db.read(["slow", "fast"])
    assert both["slow"].collect()[0].n == both["fast"].count() == 4
    clock.forward(3600)
    assert names(db.tick()) == ["slow"]
    both = db.read(["slow", "fast"])
    assert both["slow"].collect()[0].n == both["fast"].count() == 5
    old = db.read(["slow", "fast"], epoch=first)
    assert old["slow"].collect()[0].n == old["fast"].count() == 4
    with pytest.raises(WouldMixError):
        db.read(["slow", "fast"], epoch=first + 1)
    with pytest.raises(NotFoundError, match="epoch 99"):
        db.read("slow", epoch=99)


def test_what_holds_a_table_back_is_recorded_once(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("sales.revenue", REVENUE, schedule="1 minute")
    db.tick()
    change(shop)
    db.close_gate("orders", "the load runs")
    for _ in range(3):
        clock.forward(60)
        assert db.tick() == []
    assert [event.text for event in db.events("sales.revenue")] == [
        'the gate of source "orders" is closed: the load runs'
    ]
    db.open_gate("orders")
    db.pause(namespace="sales", reason="month end")
    clock.forward(60)
    assert db.tick() == []
    assert "month end" in db.events("sales.revenue")[0].text
    db.resume(namespace="sales")
    clock.forward(60)
    assert names(db.tick()) == ["sales.revenue"]
    last = [event.kind for event in db.events("sales.revenue")[:2]]
    assert last == ["coalesced", "released"]
    assert_equal_to_query(db, "sales.revenue")


def test_a_table_that_cannot_go_on_is_suspended_and_the_others_run(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("broken", "SELECT id, 1 / (id - 9) AS x FROM orders", schedule="1 minute")
    db.create("reader", "SELECT count(*) AS n FROM broken", schedule="1 minute")
    db.create("well", "SELECT count(*) AS n FROM orders", schedule="1 minute")
    db.tick()
    shop.orders.append((9, 10, "1.00", "i"))
    clock.forward(60)
    outcomes = {result.table: result.outcome for result in db.tick()}
    assert outcomes == {"broken": "failed", "reader": "deferred", "well": "applied"}
    assert {t.name: t.state for t in db.stream_tables()}["broken"] == "suspended"
    assert db.events("broken")[0].kind == "suspended"
    shop.orders.delete("id = 9")
    clock.forward(60)
    assert names(db.tick()) == ["well"]
    assert '"broken", which it reads, waits' in db.events("reader")[0].text
    db.resume("broken")
    clock.forward(60)
    assert {r.table: r.outcome for r in db.tick() if r.table != "well"} == {
        "broken": "no-change",
        "reader": "no-change",
    }
    assert_equal_to_query(db, "reader")


def test_a_table_waits_until_its_sources_have_reached_a_time(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("revenue", REVENUE, schedule="1 minute")
    db.tick()
    change(shop)
    until = clock.now + timedelta(days=1)
    db.set_watermark_group("close", ["orders", "customers"], until=until)
    for source in ("orders", "customers"):
        clock.forward(60)
        assert db.tick() == []
        assert f'source "{source}"' in db.events("revenue")[0].text
        db.set_watermark(source, until)
    clock.forward(60)
    assert names(db.tick()) == ["revenue"]
    assert_equal_to_query(db, "revenue")


def test_a_table_that_waits_too_long_is_said_to_be_late_and_well_again(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    promise = {"sla": "2 minutes", "target_lag": "90 seconds"}
    clock.now = datetime.now(UTC)
    db.create("t", "SELECT id FROM orders", schedule="1 minute", options=promise)
    db.tick()
    db.close_gate("orders", "the load runs")
    shop.orders.append((9, 10, "1.00", "i"))
    # What waits counts from when it was committed, by the clock of whoever wrote it.
    clock.now = datetime.now(UTC)
    for seconds in (1, 100, 60):
        clock.forward(seconds)
        assert db.tick() == []
    db.open_gate("orders")
    clock.forward(5)
    assert names(db.tick()) == ["t"]
    kinds = [event.kind for event in reversed(db.events("t"))]
    waited = ["held", "freshness-at-risk", "freshness-late"]
    assert kinds == [*waited, "released", "coalesced", "freshness-ok"]


def test_a_bug_in_one_refresh_suspends_its_table_after_three_times_and_no_other(
    db: StreamTables, shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.create("bad", "SELECT id FROM orders", schedule="1 minute")
    db.create("well", "SELECT count(*) AS n FROM orders", schedule="1 minute")
    whole = RefreshOne._refreshed

    def buggy(self: RefreshOne, recording: Recording) -> Refresh:
        if self.task.table.name == "bad":
            raise KeyError("a bug")
        return whole(self, recording)

    monkeypatch.setattr(RefreshOne, "_refreshed", buggy)
    for _ in range(3):
        results = {result.table: result for result in db.tick()}
        assert results["bad"].error is not None
        assert results["bad"].error.code == InternalError.code
        clock.forward(30)
    assert {t.name: t.state for t in db.stream_tables()} == {"bad": "suspended", "well": "active"}
    assert_equal_to_query(db, "well")
    assert db.events("bad")[0].kind == "suspended"


def test_an_abnormal_volume_blows_the_fuse_and_a_person_lets_it_through(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("t", "SELECT id FROM orders", schedule="1 minute", options={"fuse_rows": 3})
    db.tick()
    shop.orders.append(*[(n, 10, "1.00", "x") for n in range(100, 110)])
    clock.forward(60)
    [stopped] = db.tick()
    assert (stopped.outcome, stopped.reason.code) == ("deferred", "fuse")
    assert db.events("t")[0].kind == "suspended"
    [table] = db.stream_tables()
    assert table.state == "suspended"
    assert "10 changed rows are pending, the limit is 3" in table.state_reason
    db.resume("t")
    clock.forward(60)
    assert names(db.tick()) == ["t"]
    assert_equal_to_query(db, "t")
    shop.orders.delete("id >= 100")
    clock.forward(60)
    assert [result.reason.code for result in db.tick()] == ["fuse"]


@pytest.mark.parametrize("schedule", ["1 minute", "manual"])
def test_a_fuse_holds_also_where_a_reader_brings_the_table_along(
    db: StreamTables, shop: Shop, clock: Clock, schedule: str
) -> None:
    db.create("t", "SELECT id FROM orders", schedule=schedule, options={"fuse_rows": 3})
    db.create("reads_t", "SELECT count(*) AS n FROM t", schedule="1 minute")
    db.tick()
    shop.orders.append(*[(n, 10, "1.00", "x") for n in range(100, 110)])
    clock.forward(60)
    found = {result.table: result.reason.code for result in db.tick()}
    assert found == {"t": "fuse", "reads_t": "upstream"}
    assert {table.name: table.state for table in db.stream_tables()}["t"] == "suspended"
    # By hand is let through by a person; the next change is judged again.
    db.resume("t")
    db.refresh("t")
    shop.orders.delete("id >= 100")
    clock.forward(60)
    assert {result.table: result.reason.code for result in db.tick()}["t"] == "fuse"
    assert db.verify("t").equal


def test_a_fuse_judges_what_comes_from_another_stream_table(
    db: StreamTables, shop: Shop, clock: Clock
) -> None:
    db.create("t", "SELECT id FROM orders", schedule="1 minute")
    db.create("few", "SELECT id FROM t", schedule="1 minute", options={"fuse_rows": 3})
    db.tick()
    shop.orders.append(*[(n, 10, "1.00", "x") for n in range(100, 110)])
    clock.forward(60)
    assert {result.table: result.reason.code for result in db.tick()}["few"] == "fuse"
    assert db.verify("few").equal


@pytest.mark.fault(
    "rivals",
    "two schedulers on one warehouse",
    step="every tick",
    seen="the second stands by; `AnotherLeaderError` (ST-3002) for one that insists",
    recovery="none needed",
)
def test_one_process_leads_and_the_next_takes_over(
    db: StreamTables, shop: Shop, clock: Clock, spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    db.create("t", "SELECT id FROM orders", schedule="1 minute")
    db.tick()
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), clock=clock) as other:
        other._around.process = "elsewhere:1"
        with pytest.raises(AnotherLeaderError, match="leads until"):
            other.tick()
        change(shop)
        clock.forward(60)
        assert names(other.tick()) == ["t"]
        with pytest.raises(AnotherLeaderError, match="elsewhere:1"):
            db.tick()
    assert_equal_to_query(db, "t")


def test_a_change_that_was_seen_in_an_earlier_term_is_not_forgotten(
    db: StreamTables, shop: Shop, clock: Clock, spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    db.create("t", "SELECT id FROM orders", schedule="1 minute")
    db.tick()
    change(shop)
    clock.forward(30)
    assert db.tick() == []
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), clock=clock) as other:
        other._around.process = "elsewhere:1"
        clock.forward(16)
        assert other.tick() == []
    clock.forward(16)
    assert names(db.tick()) == ["t"]
    assert_equal_to_query(db, "t")


def test_run_follows_changes_until_it_is_stopped(
    spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    settings = settings_with(poll_seconds=0.05)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("t", "SELECT id FROM orders", schedule="on change")
        heard: list[str] = []

        def hear(done) -> None:
            heard.extend(result.outcome for result in done)
            if len(heard) == 1:
                shop.orders.append((9, 10, "1.00", "i"))
            elif len(heard) > 1:
                db.stop()

        thread = Thread(target=db.run, args=(hear,))
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        assert heard == ["applied", "applied"]
        assert len(stored_bag(db, "t")) == 5
        assert db._catalog.lead("another:1", datetime.now(UTC), 10) is not None


def test_tables_of_one_level_run_side_by_side_and_equal_their_queries(
    spark_sessions: SparkSessions, tmp_path: Path, clock: Clock
) -> None:
    settings = settings_with(worker_pool_size="4")
    with StreamTables(
        tmp_path / "w", spark=spark_sessions.get(), settings=settings, clock=clock
    ) as db:
        shop = open_shop(db, tmp_path)
        for number in range(4):
            query = f"SELECT customer, count(*) + {number} AS n FROM orders GROUP BY customer"
            db.create(f"side_{number}", query, schedule="1 minute")
        union = " UNION ALL ".join(f"SELECT * FROM side_{number}" for number in range(4))
        db.create("all_sides", union, schedule="1 minute")
        assert len(db.tick()) == 5
        change(shop)
        clock.forward(60)
        results = db.tick()
        assert [result.outcome for result in results] == ["applied"] * 5
        assert names(results)[-1] == "all_sides"
        for result in results:
            assert_equal_to_query(db, result.table)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda db: db.close_gate("no_such"), "no_such"),
        (lambda db: db.pause(namespace="nowhere"), "nowhere"),
        (lambda db: db.drop_watermark_group("none"), "none"),
        (lambda db: db.set_watermark_group("g", ["orders"]), "two sources"),
        (lambda db: db.set_watermark("orders", datetime(2030, 1, 1)), "no zone"),  # noqa: DTZ001
        (lambda db: db.set_watermark("orders", "2030-01-01"), "no moment"),
        (lambda db: db.create("x", "SELECT id FROM orders", schedule="0 seconds"), "0 seconds"),
        (lambda db: db.create("x", "SELECT id FROM orders", schedule=""), "schedule"),
        (lambda db: db.create("x", "SELECT id FROM orders", tier=""), "tier"),
    ],
)
def test_what_makes_no_sense_is_refused(db: StreamTables, shop: Shop, call, says: str) -> None:
    with pytest.raises((ConfigError, NotFoundError), match=says):
        call(db)


def test_a_refresh_that_takes_too_long_is_cancelled_with_its_spark_jobs(
    spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    settings = settings_with(refresh_timeout_seconds=2)
    spark = spark_sessions.get()
    with StreamTables(tmp_path / "w", spark=spark, settings=settings) as db:
        open_shop(db, tmp_path)
        endless = "LATERAL VIEW explode(sequence(1L, 200000L)) AS {0}"
        query = f"SELECT max(x * y) AS m FROM orders {endless.format('x')} {endless.format('y')}"
        db.create("endless", query)
        with pytest.raises(RefreshTimeoutError, match="longer than 2 s"):
            db.refresh("endless")
        [record] = db.history("endless")
        assert (record.state, record.error_code) == ("failed", "ST-3003")
        tracker = spark.sparkContext.statusTracker()
        give_up_at = monotonic() + 20
        while tracker.getActiveJobsIds() and monotonic() < give_up_at:
            sleep(0.1)
        assert not tracker.getActiveJobsIds()
        assert [item.rows for item in db.status()] == [None]
