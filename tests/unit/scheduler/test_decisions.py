"""What was decided of a table beside refreshing it: told once, when it changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import SourceGate
from streamtables.positions import Version
from streamtables.refresh.results import Refresh
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.aftermath import Aftermath
from streamtables.scheduler.book import Book
from streamtables.scheduler.tick import Ticker
from streamtables.scheduler.workers import Workers
from tests.unit.catalog.builders import START, at, record
from tests.unit.scheduler import test_book as books


@pytest.fixture
def around(tmp_path: Path) -> Iterator[Surroundings]:
    with StreamTables(tmp_path) as db:
        yield db._around


@pytest.fixture
def ticker(around: Surroundings) -> Ticker:
    return Ticker(around, Workers(around.settings))


@pytest.fixture
def table() -> StreamTable:
    return books.reading("t", books.ORDERS.id, schedule="1 minute")


def ended(
    book: Book, around: Surroundings, table: StreamTable, outcome: str, reason: str = ""
) -> list[str]:
    made = record(table.id, state=outcome, reason_code=reason)
    result = Refresh.of(table.name, made, None, None)
    settled = Aftermath(around, book, START).settle({table.name: result}, [table.id])
    return [event.kind for event in settled]


def test_a_table_that_lacks_nothing_is_told_once_after_a_refresh(
    ticker: Ticker, around: Surroundings, table: StreamTable
) -> None:
    book = books.opened(table, position=1)
    book.entries[table.id].waits_for_time = False
    assert not ticker._starts(book, table.id, at(1))
    assert ticker.skipped == []
    for _ in range(2):
        assert ended(book, around, table, "no-change") == []
        for minute in (2, 3):
            assert not ticker._starts(book, table.id, at(minute))
    assert [event.kind for event in ticker.skipped] == ["skipped", "skipped"]
    before = around.catalog.queries
    ticker.tell()
    assert around.catalog.queries > before
    assert [event.subject for event in around.catalog.events()] == ["t", "t"]
    assert ticker.skipped == []


def test_times_that_come_together_are_told_once_until_a_start_is_in_time(
    ticker: Ticker, table: StreamTable
) -> None:
    book = books.opened(table, position=2)
    entry = book.entries[table.id]
    starts = [(1, 1), (1, 4), (4, 8), (8, 9), (9, 20)]
    told = []
    for last, now in starts:
        entry.last_started = at(last) - timedelta(seconds=1)
        assert ticker._starts(book, table.id, at(now))
        told.append([event.kind for event in ticker.happened])
        ticker.happened = []
    assert told == [[], ["coalesced"], [], [], ["coalesced"]]


def test_what_an_input_waits_for_is_told_once_however_often_it_is_looked_at(
    ticker: Ticker, table: StreamTable
) -> None:
    follows = replace(table, schedule="on change")
    reader = books.reading("reader", follows.id, schedule="on change")
    book = books.opened(follows, reader, position=2)
    book.rules = replace(
        book.rules,
        gates={books.ORDERS.id: SourceGate(books.ORDERS.id, "closed for the night", START)},
    )
    for second in range(0, 60, 5):
        now = START + timedelta(seconds=second)
        for key in sorted(book.entries):
            assert not ticker._starts(book, key, now)
    assert [(event.subject, event.kind) for event in ticker.happened] == [
        (book.entries[key].table.name, "held") for key in sorted(book.entries)
    ]
    assert all("the gate of source" in event.text for event in ticker.happened)
    # What held it back is no failure, so nothing that reads it waits for a time.
    assert all(entry.not_before is None for entry in book.entries.values())


def test_another_time_of_the_same_wait_is_no_news(ticker: Ticker, table: StreamTable) -> None:
    reader = books.reading("reader", table.id, schedule="on change")
    book = books.opened(table, reader, position=2)
    told = []
    for minute in (1, 2, 3):
        book.entries[table.id].not_before = at(minute + 1)
        assert not ticker._starts(book, reader.id, at(minute))
        told.append(len(ticker.happened))
    assert told == [1, 1, 1]


def test_a_table_that_cannot_move_is_told_once_until_it_does(
    around: Surroundings, table: StreamTable
) -> None:
    book = books.opened(table, position=2)
    told = [ended(book, around, table, "deferred") for _ in range(3)]
    assert told == [["deferred"], [], []]
    book.positions[books.ORDERS.id] = Version(2)
    ended(book, around, table, "no-change")
    assert ended(book, around, table, "deferred") == ["deferred"]


def test_a_table_that_somebody_stopped_is_no_failure_and_those_that_read_it_wait_with_it(
    around: Surroundings, table: StreamTable
) -> None:
    reader = books.reading("reader", table.id, schedule="on change")
    book = books.opened(table, reader, position=2)
    assert reader.id in book.following
    assert ended(book, around, table, "cancelled", "cancelled") == ["cancelled"]
    assert ended(book, around, reader, "deferred", "cancelled") == ["deferred"]
    for key in (table.id, reader.id):
        entry = book.entries[key]
        assert (entry.failures, entry.not_before) == (0, None)
    assert reader.id not in book.following
    assert ended(book, around, reader, "applied") == []
    assert book.entries[reader.id].let_be is None
