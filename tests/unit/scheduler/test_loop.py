"""Who leads, and what a leader does when things go wrong; nothing here starts Spark."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest

from streamtables.api import StreamTables
from streamtables.catalog import Column, Source, StreamTable, default_location
from streamtables.catalog.scheduler_models import Event, Lease
from streamtables.engine.describe import describe
from streamtables.errors import AnotherLeaderError, EnvironmentFaultError, TransientError
from streamtables.positions import InputId
from streamtables.refresh.recover import recover
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.round import Work
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.loop import Loop
from streamtables.scheduler.permission import NoMore
from streamtables.scheduler.queue import Job
from streamtables.scheduler.tick import Ticker
from streamtables.scheduler.workers import Workers
from tests.support.delta_tables import DeltaTableFile, take_log_away
from tests.support.moved_clock import Clock
from tests.support.settings import settings_with
from tests.unit.catalog.builders import START, reads, record, source, standing, stream_table


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def around(tmp_path: Path, clock: Clock) -> Iterator[Surroundings]:
    with StreamTables(tmp_path, settings=settings_with(lease_seconds=1), clock=clock) as db:
        yield db._around


@dataclass
class Stumbling(Ticker):
    """Makes ticks of which the first ones fail."""

    faults: list[Exception] = field(default_factory=list)

    def tick(self, lease: Lease) -> list[Refresh]:
        if self.faults:
            raise self.faults.pop(0)
        return super().tick(lease)


@pytest.mark.fault(
    "rivals",
    "a leader is too late to renew its lease",
    step="between two tables of a round",
    seen="the rest of its round is not begun",
    recovery="by itself: who leads now does it",
)
def test_nothing_starts_once_the_lease_has_run_out(clock: Clock) -> None:
    workers = Workers(settings_with(worker_pool_size="1"), no_more=NoMore(clock))
    tables = [InputId(name) for name in "abc"]
    workers.jobs = {key: Job(key, "default", "hot", 0.0, clock.now) for key in tables}
    workers.no_more.until = clock.now + timedelta(seconds=2)
    started: list[InputId] = []

    def work(key: InputId) -> Refresh:
        started.append(key)
        clock.forward(1.5)
        return Refresh.of(str(key), record(key), None, None)

    workers(tables, {}, work)
    assert started == ["a", "b"]


def test_a_tick_that_fails_is_told_and_the_next_one_is_made(around: Surroundings) -> None:
    faults = [KeyError("a bug"), sqlite3.OperationalError("away")]
    ticker = Stumbling(around, Workers(around.settings), faults=faults)
    loop = Loop(ticker)
    thread = Thread(target=loop.run, args=(lambda _: loop.end() if ticker.ticks else None,))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    told = [event.text for event in around.catalog.events() if event.kind == "tick-failed"]
    assert told == ["a tick failed: away", "a tick failed: 'a bug'"]


@dataclass
class Renewing(Loop):
    """Says when the lease was renewed a few times without a tick."""

    renewals: int = 0
    often: Flag = field(default_factory=Flag)

    def _renew(self) -> bool:
        self.renewals += 1
        if self.renewals == 5:
            self.often.set()
        return super()._renew()


def test_a_leader_that_looks_seldom_keeps_its_lease(tmp_path: Path) -> None:
    settings = settings_with(lease_seconds=1, poll_seconds=3600)
    with StreamTables(tmp_path, settings=settings) as db:
        around = db._around
        loop = Renewing(Ticker(around, Workers(around.settings)))
        thread = Thread(target=loop.run)
        thread.start()
        try:
            assert loop.often.wait(20)
            lease = around.catalog.lease()
        finally:
            loop.end()
            thread.join(10)
        assert lease is not None
        assert (lease.term, lease.holder) == (1, around.process)
        assert lease.expires_at > datetime.now(UTC)
        assert loop.ticker.ticks == 1


def test_an_end_that_comes_while_a_tick_begins_holds(around: Surroundings) -> None:
    loop = Loop(Ticker(around, Workers(around.settings)))
    clear = loop.no_more.clear

    def clear_and_end() -> None:
        clear()
        # As another thread does, right after it.
        loop.stop.set()

    loop.no_more.clear = clear_and_end  # type: ignore[method-assign]  # a point between two lines
    loop.tick()
    assert loop.no_more.is_set()


@pytest.mark.fault(
    "process",
    "the records of a leader that died in the middle of a round",
    step="takeover",
    seen="what it did is an epoch; what it had begun has ended",
    recovery="by itself",
)
def test_a_new_leader_ends_what_a_dead_one_left_and_keeps_what_it_did(
    around: Surroundings,
) -> None:
    table = around.catalog.create_stream_table(stream_table("t", schedule="manual"), ())
    host = around.process.rsplit(":", 1)[0]
    # No process has the number: it is beyond what the system gives.
    dead = record(table.id, process=f"{host}:{2**30}", started_at=START)
    around.catalog.begin_refresh(dead)
    around.catalog.adopt_standing(table.id, standing(1, {}))
    loop = Loop(Ticker(around, Workers(around.settings)))
    loop.tick()
    assert around.catalog.running_refreshes() == ()
    assert [move.delta_version for move in around.catalog.epoch_moves([table.id])] == [0]
    loop.tick()
    assert around.catalog.last_epoch() == 1


def test_a_process_that_leads_again_looks_at_every_source_again(
    around: Surroundings, clock: Clock
) -> None:
    loop = Loop(Ticker(around, Workers(around.settings)))
    loop.tick()
    known = loop.ticker.heads
    loop.tick()
    assert loop.ticker.heads is known
    clock.forward(2)
    assert around.catalog.lead("another:1", clock.now, 1) is not None
    clock.forward(2)
    loop.tick()
    assert loop.ticker.heads is not known


@dataclass
class Only(Workers):
    """Refreshes one table of a round, and notes the others."""

    name: InputId | None = None
    others: list[InputId] = field(default_factory=list)

    def __call__(
        self, tables: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]], work: Work
    ) -> Mapping[InputId, Refresh]:
        self.others += [key for key in tables if key != self.name]
        if self.name is None or self.name not in tables:
            return {}
        return super().__call__([self.name], inputs, work)


@pytest.mark.fault(
    "files",
    "the log of one source cannot be read: no right to, or its storage is away",
    step="a tick looks at its sources",
    seen="readers of that source fail with ST-4001 or ST-3000; all other tables are refreshed",
    recovery="make it readable; the scheduler tries again by itself",
)
def test_a_source_that_cannot_be_read_stops_its_readers_alone(
    around: Surroundings, clock: Clock, tmp_path: Path
) -> None:
    tables = [DeltaTableFile(tmp_path / n, {"id": "bigint"}, [(1,)]) for n in ("away", "here")]
    sources = [add_delta_source(around, table.path) for table in tables]
    readers = [follow(around, source) for source in sources]
    workers = Only(around.settings, name=readers[0].id)
    loop = Loop(Ticker(around, workers))
    assert loop.tick() == []
    give_back = take_log_away(tables[0].path)
    tables[1].append((2,))
    [failed] = loop.tick()
    assert (failed.table, failed.outcome) == ("reads_away", "failed")
    assert isinstance(failed.error, EnvironmentFaultError)
    assert workers.others == [readers[1].id]
    give_back()
    clock.forward(60)
    loop.tick()
    assert loop.ticker.book is not None
    assert loop.ticker.book.broken == set()


@dataclass
class Recovering(Workers):
    """Refreshes in earnest the first time; after that there is nothing to be done."""

    asked: int = 0

    def __call__(
        self, tables: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]], work: Work
    ) -> Mapping[InputId, Refresh]:
        self.asked += 1
        if self.asked == 1:
            return super().__call__(tables, inputs, work)
        nothing = Reason("current", "nothing changed")
        return {key: Refresh("reads_away", "no-change", "no-change", nothing) for key in tables}


@pytest.mark.parametrize("leads", ["the same process", "another process"])
def test_a_table_that_failed_is_tried_again_though_nothing_changed_meanwhile(
    around: Surroundings, clock: Clock, tmp_path: Path, leads: str
) -> None:
    """Else its last refresh stays a failure, and pages call it failed, until something changes."""
    away = DeltaTableFile(tmp_path / "away", {"id": "bigint"}, [(1,)])
    follow(around, add_delta_source(around, away.path))
    workers = Recovering(around.settings)
    loop = Loop(Ticker(around, workers))
    loop.tick()
    give_back = take_log_away(away.path)
    assert [result.outcome for result in loop.tick()] == ["failed"]
    give_back()
    clock.forward(60)
    if leads == "another process":
        loop = Loop(Ticker(around, workers))
    assert [result.outcome for result in loop.tick()] == ["no-change"]
    told = around.catalog.events()[0]
    assert (told.kind, told.text) == ("recovered", "it works again after 1 failed refresh")
    clock.forward(60)
    assert loop.tick() == []
    assert workers.asked == 2


def add_delta_source(around: Surroundings, path: Path) -> Source:
    found = describe(str(path))
    columns = tuple(Column(c.name, c.type, c.nullable) for c in found.columns)
    made = source(path.name, location=str(path), columns=columns, delta_table_id=found.table_id)
    return around.catalog.add_source(made)


def follow(around: Surroundings, below: Source, schedule: str = "on change") -> StreamTable:
    """Define a table that follows a source, and stands for its first version."""
    query = f"SELECT id FROM {below.name}"
    made = stream_table(f"reads_{below.name}", query=query, schedule=schedule)
    table = around.catalog.create_stream_table(made, reads(below))
    at_first = standing(1, {below.id: 0})
    around.catalog.adopt_standing(table.id, replace(at_first, query_hash=table.defining_query_hash))
    return table


@dataclass
class Broken(Workers):
    """Notes what it is asked to refresh; the first time it breaks off, later it does nothing."""

    asked: list[list[InputId]] = field(default_factory=list)

    def __call__(
        self, tables: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]], work: Work
    ) -> Mapping[InputId, Refresh]:
        self.asked.append(list(tables))
        if len(self.asked) == 1:
            raise TransientError("the catalog does not answer")
        return {}


def test_a_tick_that_breaks_off_loses_no_table(
    around: Surroundings, clock: Clock, tmp_path: Path
) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    reader = follow(around, add_delta_source(around, orders.path), schedule="1 minute")
    workers = Broken(around.settings)
    loop = Loop(Ticker(around, workers))
    loop.tick()
    orders.append((2,))
    clock.forward(61)
    with pytest.raises(TransientError):
        loop.tick()
    loop.tick()
    assert workers.asked == [[reader.id], [reader.id]]


def test_a_tick_that_breaks_off_loses_no_change(
    around: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    reader = follow(around, add_delta_source(around, orders.path))
    workers = Only(around.settings)
    loop = Loop(Ticker(around, workers))
    loop.tick()
    orders.append((2,))
    with monkeypatch.context() as patched:
        patched.setattr(around.catalog, "heads", _away)
        with pytest.raises(TransientError):
            loop.tick()
    assert workers.others == []
    loop.tick()
    assert workers.others == [reader.id]


def _away(*_: object) -> None:
    raise TransientError("the catalog does not answer")


def test_who_closes_a_warehouse_gives_its_lease_up(tmp_path: Path, clock: Clock) -> None:
    with StreamTables(tmp_path, clock=clock) as first:
        first.tick()
        with (
            StreamTables(tmp_path, clock=clock) as second,
            pytest.raises(AnotherLeaderError, match="leads until"),
        ):
            second.tick()
    with StreamTables(tmp_path, clock=clock) as third:
        third.tick()


def test_who_was_told_to_stop_may_be_asked_again(tmp_path: Path, clock: Clock) -> None:
    with StreamTables(tmp_path, clock=clock) as db:
        db.stop()
        db.run()
        assert db._around.catalog.lease() is None
        db.stop()
        db.tick()
        lease = db._around.catalog.lease()
        assert lease is not None
        assert lease.holder == db._around.process


def test_what_a_leader_of_another_machine_left_is_ended_by_the_next_one(
    around: Surroundings, clock: Clock
) -> None:
    left, others = (
        around.catalog.create_stream_table(stream_table(name, schedule="manual"), ())
        for name in ("left", "others")
    )
    for table, process in ((left, "elsewhere:7/ab"), (others, "elsewhere:8/cd")):
        running = record(table.id, process=process, started_at=START)
        around.catalog.begin_refresh(running)
    assert around.catalog.lead("elsewhere:7/ab", clock.now, 1) is not None
    clock.forward(2)
    Loop(Ticker(around, Workers(around.settings))).tick()
    # Of one that never led nothing is known: it may be a refresh by hand that goes on.
    assert [found.process for found in around.catalog.running_refreshes()] == ["elsewhere:8/cd"]
    # Until its table has been moved on by somebody else.
    around.catalog.adopt_standing(others.id, standing(2, {}))
    recover(around)
    assert around.catalog.running_refreshes() == ()


def test_what_the_last_leader_held_back_is_told_to_be_released(
    around: Surroundings, clock: Clock, tmp_path: Path
) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    reader = follow(around, add_delta_source(around, orders.path))
    gate = Event(clock.now, "held", "the gate is closed", reader.id, reader.name)
    around.catalog.record_events([gate])
    orders.append((2,))
    loop = Loop(Ticker(around, Only(around.settings)))
    loop.tick()
    assert around.catalog.last_events(("held", "released"))[reader.id].kind == "released"


def test_a_catalog_that_is_away_for_a_while_is_waited_for(
    around: Surroundings, tmp_path: Path
) -> None:
    loop = Loop(Ticker(around, Workers(around.settings)))
    file = default_location(tmp_path)
    around.catalog.close()
    file.rename(file.with_suffix(".away"))
    file.mkdir()
    thread = Thread(target=loop.run, args=(lambda _: loop.end(),))
    thread.start()
    thread.join(0.5)
    assert thread.is_alive()
    file.rmdir()
    file.with_suffix(".away").rename(file)
    thread.join(10)
    assert not thread.is_alive()
    assert loop.term == 1
