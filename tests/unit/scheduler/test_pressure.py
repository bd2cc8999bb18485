"""Pending changes that pile up are told once, and cooler tables make room."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from streamtables.catalog.models import StreamTable
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_entry import LogEntry
from streamtables.positions import Version
from streamtables.scheduler.book import Book
from streamtables.scheduler.pressure import PressureGauge
from streamtables.settings import Settings
from tests.support.delta_tables import DeltaTableFile, take_log_away
from tests.unit.catalog.builders import START, at, source
from tests.unit.scheduler import test_book as books


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    table = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    for start in range(3):
        table.append(*[(10 * start + n,) for n in range(10)])
    monkeypatch.setattr(books, "ORDERS", source("orders", location=str(table.path)))
    hot = books.reading("hot", books.ORDERS.id, schedule="1 minute")
    cold = books.reading("cold", books.ORDERS.id, schedule="1 minute", tier="cold")
    return books.opened(hot, cold, position=3, at_version={hot.id: 0, cold.id: 1})


def named(book: Book, name: str) -> StreamTable:
    return next(entry.table for entry in book.entries.values() if entry.table.name == name)


def test_an_alert_comes_once_and_is_taken_back(book: Book):
    gauge = PressureGauge(Settings(buffer_alert_threshold=25, buffer_alert_cycles=2))
    kinds = [[event.kind for event in gauge.look(book, at(n))] for n in range(5)]
    assert kinds == [[], [], ["change_buffer_backpressure"], [], []]
    assert gauge.pending == {books.ORDERS.id: 30}
    for key in book.entries:
        book.standings[key] = books.standing(book.entries[key].table, 3)
    book.note_changes(list(book.entries), at(6))
    [event] = gauge.look(book, at(6))
    assert (event.kind, event.subject) == ("change_buffer_backpressure_cleared", "orders")
    assert gauge.look(book, at(7)) == []


def test_under_pressure_only_hot_tables_start(book: Book):
    gauge = PressureGauge(Settings(buffer_alert_threshold=25, buffer_alert_cycles=1))
    hot, cold = (book.entries[named(book, name).id] for name in ("hot", "cold"))
    assert gauge.hold(cold, START) is None
    gauge.look(book, START)
    gauge.look(book, START)
    assert gauge.hold(hot, START) is None
    found = gauge.hold(cold, START)
    assert found is not None
    assert found.kind == "yield"


def test_room_is_made_only_while_hot_tables_need_it(book: Book):
    gauge = PressureGauge(Settings(buffer_alert_threshold=15, buffer_alert_cycles=1))
    hot, cold = (book.entries[named(book, name).id] for name in ("hot", "cold"))
    for minute in range(2):
        gauge.look(book, at(minute))
    assert gauge.hold(cold, at(1)) is not None
    book.standings[hot.table.id] = books.standing(hot.table, 3)
    book.note_changes([hot.table.id], at(2))
    gauge.look(book, at(2))
    assert gauge.hold(cold, at(2)) is None
    # What waits for the cold one alone is still told.
    assert gauge.pending == {books.ORDERS.id: 20}
    assert gauge.pressures[books.ORDERS.id].high


def test_a_table_makes_room_for_ten_minutes_and_then_runs_once(book: Book):
    gauge = PressureGauge(Settings(buffer_alert_threshold=25, buffer_alert_cycles=1))
    cold = book.entries[named(book, "cold").id]
    held = []
    for minute in range(24):
        gauge.look(book, at(minute))
        held.append(gauge.hold(cold, at(minute)) is not None)
    assert [minute for minute, is_held in enumerate(held) if not is_held] == [0, 11, 22]


def test_entries_that_wait_are_read_once(book: Book, monkeypatch: pytest.MonkeyPatch):
    read: list[tuple[int, int]] = []
    entries = DeltaLog.entries

    def noted(log: DeltaLog, after: Version, upto: Version) -> tuple[LogEntry, ...]:
        read.extend([(after, upto)] if after < upto else [])
        return entries(log, after, upto)

    monkeypatch.setattr(DeltaLog, "entries", noted)
    gauge = PressureGauge(Settings(buffer_alert_threshold=25, buffer_alert_cycles=1))
    for minute in range(4):
        gauge.look(book, at(minute))
    assert read == [(0, 3)]
    DeltaTable(book.definitions.sources[books.ORDERS.id].location).delete("id = 1")  # two rows
    book.positions[books.ORDERS.id] = Version(4)
    gauge.look(book, at(4))
    assert read == [(0, 3), (3, 4)]
    assert gauge.pending == {books.ORDERS.id: 32}


def test_below_the_threshold_or_switched_off_nothing_is_said(book: Book):
    for threshold in (30, 0):
        gauge = PressureGauge(Settings(buffer_alert_threshold=threshold, buffer_alert_cycles=1))
        assert [gauge.look(book, at(n)) for n in range(3)] == [[], [], []]


def test_a_source_that_cannot_be_read_is_not_counted(book: Book):
    gauge = PressureGauge(Settings(buffer_alert_threshold=25, buffer_alert_cycles=2))
    give_back = take_log_away(Path(book.definitions.sources[books.ORDERS.id].location))
    try:
        assert [gauge.look(book, at(n)) for n in range(4)] == [[], [], [], []]
    finally:
        give_back()
    assert gauge.look(book, at(4)) == []
    assert [event.kind for event in gauge.look(book, at(5))] == ["change_buffer_backpressure"]
    # The look at all sources has found that it cannot be read; what was counted is old.
    book.note_source(books.ORDERS.id, None)
    assert [event.kind for event in gauge.look(book, at(6))] == [
        "change_buffer_backpressure_cleared"
    ]


def test_a_source_whose_history_is_gone_is_not_counted(book: Book):
    book.positions[books.ORDERS.id] = Version(99)
    gauge = PressureGauge(Settings(buffer_alert_threshold=1, buffer_alert_cycles=1))
    assert [gauge.look(book, at(n)) for n in range(3)] == [[], [], []]
