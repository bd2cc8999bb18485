"""Pausing and waiting for what runs; nothing here starts Spark."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import RefreshRecord, StreamTable
from streamtables.catalog.scheduler_models import EVERYTHING, Pause
from streamtables.errors import TransientError
from streamtables.positions import InputId
from streamtables.refresh.results import Refresh
from streamtables.scheduler.queue import Job
from streamtables.scheduler.stopping import wait_until
from streamtables.scheduler.tick import Ticker
from streamtables.scheduler.workers import Workers
from tests.support.settings import settings_with
from tests.unit.catalog.builders import START, record, stream_table

PATIENCE = 20.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    with StreamTables(tmp_path) as opened:
        yield opened


def made(db: StreamTables, name: str) -> StreamTable:
    return db._catalog.create_stream_table(stream_table(name), ())


def begun(db: StreamTables, table: StreamTable) -> RefreshRecord:
    running = record(table.id, process=db._around.process)
    db._catalog.begin_refresh(running)
    return running


def test_it_is_looked_at_until_it_is_done_or_time_is_up():
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    assert wait_until(lambda: now[0] > 5, None, sleep, lambda: now[0])
    assert not wait_until(lambda: now[0] > 100, 10, sleep, lambda: now[0])
    assert now[0] < 20
    assert wait_until(lambda: True, 0, sleep, lambda: now[0])


@pytest.mark.parametrize(
    "what", [{}, {"name": "sales.T"}, {"namespace": "Sales"}], ids=["all", "table", "namespace"]
)
def test_a_pause_that_waits_returns_when_what_it_covers_has_ended(
    db: StreamTables, what: dict[str, Any]
) -> None:
    running = begun(db, made(db, "sales.t"))
    looked = Event()
    db._around.sleep = lambda _: looked.set()
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(lambda: db.pause(wait=True, timeout=None, **what))
        assert looked.wait(PATIENCE)
        assert not waiting.done()
        db._catalog.finish_refresh(replace(running, state="applied"), None)
        waiting.result(PATIENCE)
    assert db._catalog.pause_of(running.stream_table_id, (EVERYTHING, "namespace:sales"))


def test_others_are_not_waited_for_and_a_dead_process_is_not_either(db: StreamTables) -> None:
    begun(db, made(db, "other"))
    table = made(db, "sales.t")
    host = db._around.process.rsplit(":", 1)[0]
    db._catalog.begin_refresh(record(table.id, process=f"{host}:{2**30}"))
    db.pause(namespace="sales", wait=True, timeout=PATIENCE)
    db.pause("sales.t", wait=True, timeout=PATIENCE)
    assert [r.stream_table_id for r in db._catalog.running_refreshes()] != [table.id]


def test_what_takes_too_long_is_named_and_the_pause_holds(db: StreamTables) -> None:
    begun(db, made(db, "t"))
    with pytest.raises(TransientError, match="1 of the paused tables") as caught:
        db.pause(wait=True, timeout=0)
    assert caught.value.detail == "They are: t."
    assert EVERYTHING in db._catalog.rules().pauses


@pytest.mark.parametrize("size", ["1", "2"])
def test_a_pause_in_the_middle_of_a_tick_starts_nothing_more(db: StreamTables, size: str) -> None:
    """`a` is refreshed when somebody pauses the namespace of `b`, and of `c` which reads it."""
    around = db._around
    around.settings = settings_with(worker_pool_size=size)
    tables = {name: made(db, name) for name in ("a", "sales.b", "sales.c", "d")}
    workers = Workers(around.settings)
    ticker = Ticker(around, workers)
    workers.jobs = {
        table.id: Job(table.id, name.rpartition(".")[0] or "default", "hot", 0.0, START)
        for name, table in tables.items()
    }
    workers.may_start = ticker._may_start
    names = {table.id: name for name, table in tables.items()}
    after_a = {table.id: [tables["a"].id] for name, table in tables.items() if name != "a"}
    started: list[str] = []

    def work(key: InputId) -> Refresh:
        started.append(names[key])
        if names[key] == "a":
            around.catalog.put_pause(Pause("namespace:sales", "month end", START))
        return Refresh.of(names[key], record(key), None, None)

    done = workers(list(names), after_a, work)
    workers.close()
    assert started == ["a", "d"]
    assert [names[key] for key in done] == ["a", "d"]
