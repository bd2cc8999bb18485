"""Promises of freshness are judged by when a change came, while a round runs, and at its end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.positions import Version
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.lateness import Promises, judged
from tests.support.delta_tables import DeltaTableFile
from tests.support.moved_clock import Clock
from tests.unit.catalog.builders import START, at, source
from tests.unit.scheduler import test_book as books


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def around(tmp_path: Path, clock: Clock) -> Iterator[Surroundings]:
    with StreamTables(tmp_path / "warehouse", clock=clock) as db:
        yield db._around


@pytest.fixture
def book() -> Book:
    table = books.reading("t", books.ORDERS.id, schedule="1 minute", options={"sla": "2 minutes"})
    return books.opened(table, position=2)


def test_a_promise_that_breaks_while_a_round_runs_is_told_then(
    around: Surroundings, clock: Clock, book: Book
) -> None:
    promises = Promises(around)
    [entry] = book.promised
    standings = dict(book.standings)
    told = []
    with promises.while_it_runs(book, lambda: standings):
        for minute in (1, 3, 4):
            clock.now = at(minute)
            promises.watch()
            told.append([event.kind for event in around.catalog.events()])
    assert told == [[], ["freshness-late"], ["freshness-late"]]
    promises.watch()
    assert len(around.catalog.events()) == 1
    assert entry.freshness == "late"


def test_a_table_that_a_round_has_moved_is_not_late_while_the_round_goes_on(
    around: Surroundings, clock: Clock, book: Book
) -> None:
    promises = Promises(around)
    [entry] = book.promised
    moved = {entry.table.id: books.standing(entry.table, 2)}
    with promises.while_it_runs(book, lambda: moved):
        clock.now = at(30)
        promises.watch()
    assert not around.catalog.events()


def test_a_table_that_was_late_when_it_moved_is_told_late_and_then_well(
    around: Surroundings, book: Book
) -> None:
    [entry] = book.promised
    key = entry.table.id
    book.standings[key] = books.standing(entry.table, 2)
    found = []
    for ended in (at(1), at(5)):
        entry.behind_since = START
        around.observer.ended_at[key] = ended
        found += Promises(around).at_the_end(book, [key])
        book.note_changes([key], at(6))
        found += judged(book.promised, at(6))
    assert [(event.kind, event.at) for event in found] == [
        ("freshness-late", at(5)),
        ("freshness-ok", at(6)),
    ]


def test_a_table_that_did_not_move_is_judged_by_the_next_look(
    around: Surroundings, book: Book
) -> None:
    [entry] = book.promised
    around.observer.ended_at[entry.table.id] = at(5)
    assert Promises(around).at_the_end(book, [entry.table.id]) == []


def test_what_nobody_looked_at_for_long_counts_from_when_it_came(
    around: Surroundings, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    written.append((2,))
    orders = source("orders", location=str(written.path))
    monkeypatch.setattr(books, "ORDERS", orders)
    table = books.reading("t", orders.id, schedule="1 minute", options={"sla": "2 minutes"})
    book = books.opened(table, position=1, at_version={table.id: 0})
    [entry] = book.promised
    entry.behind_since = clock.now = datetime.now(UTC) + timedelta(hours=1)
    Promises(around).date_back(book, clock.now)
    assert entry.behind_since < datetime.now(UTC)
    assert [event.kind for event in judged(book.promised, clock.now)] == ["freshness-late"]
    # What was seen before is not looked up again.
    seen = entry.behind_since = START
    book.positions[orders.id] = Version(1)
    Promises(around).date_back(book, clock.now)
    assert entry.behind_since == seen
