"""What the leader knows between ticks: who is due, who is behind, what is kept over a change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.models import Input, Standing, StreamTable
from streamtables.catalog.scheduler_models import Rules
from streamtables.positions import Frontier, InputId, RefreshId, Sequence, Version
from streamtables.scheduler.book import Book
from tests.unit.catalog.builders import START, at, source, stream_table

ORDERS = source("orders")


def standing(table: StreamTable, version: int, **changes: Any) -> Standing:
    frontier = Frontier({ORDERS.id: Version(version)})
    values: dict[str, Any] = {
        "version": Version(1),
        "sequence": Sequence(1),
        "refresh_id": RefreshId("r"),
        "frontier": frontier,
        "base_frontier": frontier,
        "query_hash": table.defining_query_hash,
        "updated_at": START,
    }
    return Standing(**{**values, **changes})


def reading(name: str, *inputs: InputId, **changes: Any) -> StreamTable:
    edges = tuple(Input(key, "source" if key == ORDERS.id else "stream-table") for key in inputs)
    return replace(stream_table(name, **changes), inputs=edges)


def snapshot(
    *tables: StreamTable, at_version: dict[InputId, int] | None = None, generation: int = 1
) -> CatalogSnapshot:
    versions = at_version if at_version is not None else {table.id: 1 for table in tables}
    known = {table.id: table for table in tables}
    return CatalogSnapshot(
        Definitions(generation, {ORDERS.id: ORDERS}, known),
        {key: standing(known[key], version) for key, version in versions.items()},
    )


def opened(*tables: StreamTable, position: int = 1, **given: Any) -> Book:
    book = Book.of(snapshot(*tables, **given), Rules(), START)
    book.positions[ORDERS.id] = Version(position)
    book.note_changes(list(book.entries), START)
    return book


def test_a_table_is_behind_when_a_root_has_moved():
    table = reading("t", ORDERS.id, schedule="1 minute")
    assert not opened(table, position=1).is_behind(table.id)
    assert opened(table, position=2).is_behind(table.id)


def test_a_table_without_rows_or_with_another_query_is_behind():
    table = reading("t", ORDERS.id)
    assert opened(table, at_version={}).is_behind(table.id)
    book = opened(table)
    book.standings[table.id] = standing(table, 1, query_hash="another")
    assert book.is_behind(table.id)


def test_a_table_on_a_broken_source_is_behind_so_that_its_refresh_says_why():
    table = reading("t", ORDERS.id)
    book = opened(table)
    book.broken.add(ORDERS.id)
    assert book.is_behind(table.id)


def test_time_brings_up_tables_one_by_one_and_once():
    slow = reading("slow", ORDERS.id, schedule="10 minutes")
    fast = reading("fast", ORDERS.id, schedule="1 minute")
    book = opened(slow, fast)
    assert book.next_start(START) == at(1)
    assert list(book.take_due(at(0.5))) == []
    assert list(book.take_due(at(1))) == [fast.id]
    assert list(book.take_due(at(1))) == []
    book.entries[fast.id].last_started = at(1)
    book.schedule(fast.id, at(1))
    assert list(book.take_due(at(10))) == [fast.id, slow.id]


def test_a_table_that_follows_changes_is_due_while_it_has_one():
    table = reading("t", ORDERS.id, schedule="on change")
    book = opened(table, position=1)
    assert list(book.take_due(at(1))) == []
    book.positions[ORDERS.id] = Version(2)
    book.note_changes([table.id], at(1))
    assert list(book.take_due(at(1))) == [table.id]
    assert book.entries[table.id].behind_since == at(1)
    book.positions[ORDERS.id] = Version(1)
    book.note_changes([table.id], at(2))
    assert list(book.take_due(at(2))) == []
    assert book.entries[table.id].behind_since is None


def test_what_never_starts_by_itself_is_not_watched():
    tables = (
        reading("by_hand", ORDERS.id, schedule="manual"),
        reading("frozen", ORDERS.id, schedule="1 minute", tier="frozen"),
        reading("paused", ORDERS.id, schedule="1 minute", state="paused"),
    )
    book = opened(*tables, position=2)
    assert book.watched == ()
    assert book.next_start(START) is None


def test_a_calculated_table_follows_its_tightest_reader():
    base = reading("base", ORDERS.id, schedule="calculated")
    reader = reading("reader", base.id, schedule="1 minute")
    book = opened(base, reader)
    assert book.entries[base.id].due_at(START) == at(1)
    assert book.entries[reader.id].roots == {ORDERS.id}


def test_a_change_of_one_definition_keeps_what_is_known_of_the_others():
    kept = reading("kept", ORDERS.id, schedule="1 minute")
    altered = reading("altered", ORDERS.id, schedule="1 minute")
    gone = reading("gone", kept.id, schedule="1 minute")
    book = opened(kept, altered, gone)
    for key in (kept.id, altered.id):
        entry = book.entries[key]
        entry.failures, entry.not_before, entry.last_started = 2, at(3), at(1)
    new = reading("new", kept.id, schedule="1 minute")
    moved = replace(altered, altered_at=at(2))
    after = Book.of(snapshot(kept, moved, new, generation=2), Rules(), at(2), book)
    assert (after.entries[kept.id].failures, after.entries[kept.id].not_before) == (2, at(3))
    # Whoever alters a table wants it tried at once.
    assert (after.entries[altered.id].failures, after.entries[altered.id].not_before) == (0, None)
    assert after.entries[altered.id].last_started == at(1)
    assert after.positions == book.positions
    assert set(after.dag.affected([ORDERS.id])) == {kept.id, altered.id, new.id}


def test_a_table_that_lacks_nothing_rests_and_keeps_its_rhythm():
    table = reading("t", ORDERS.id, schedule="10 minutes")
    book = opened(table)
    assert list(book.take_due(at(10))) == [table.id]
    book.pass_over(table.id, at(10))
    book.seen_at = at(34)
    assert list(book.take_due(at(34))) == []
    assert book.next_start(at(34)) is None
    assert book.note_source(ORDERS.id, Version(2))
    book.note_changes([table.id], at(35))
    assert book.next_start(at(35)) == at(40)
    assert list(book.take_due(at(39))) == []
    assert list(book.take_due(at(40))) == [table.id]


def test_a_table_whose_time_came_while_nobody_looked_starts_at_the_next_look():
    table = reading("t", ORDERS.id, schedule="1 minute")
    book = opened(table)
    book.pass_over(table.id, at(1))
    book.seen_at = at(1)
    book.note_source(ORDERS.id, Version(2))
    book.note_changes([table.id], at(60))
    assert list(book.take_due(at(60))) == [table.id]


def test_a_new_book_keeps_the_rhythm_of_tables_that_rest():
    table = reading("t", ORDERS.id, schedule="10 minutes")
    book = opened(table)
    book.pass_over(table.id, at(10))
    book.seen_at = at(34)
    after = Book.of(snapshot(table, generation=2), Rules(), at(35), book)
    assert after.next_start(at(35)) == at(40)


def test_a_table_that_follows_changes_and_lacks_none_is_no_longer_due():
    table = reading("t", ORDERS.id, schedule="on change")
    book = opened(table, position=2)
    assert list(book.take_due(at(1))) == [table.id]
    # A refresh by hand, which the book learns of with the next round of other tables.
    book.standings[table.id] = standing(table, 2)
    book.pass_over(table.id, at(1))
    assert list(book.take_due(at(2))) == []
    assert book.next_start(at(2)) is None


def test_a_source_is_news_when_it_moves_breaks_or_works_again():
    book = opened(reading("t", ORDERS.id, schedule="1 minute"))
    moves = [Version(1), Version(2), None, None, Version(2), Version(2)]
    news = [book.note_source(ORDERS.id, at) for at in moves]
    assert news == [False, True, True, False, True, False]
    other = source("other")
    assert [book.note_source(other.id, None) for _ in range(2)] == [True, False]


def test_what_is_consumed_of_a_source_is_the_furthest_that_a_table_stands_for():
    near, far = reading("near", ORDERS.id), reading("far", ORDERS.id)
    empty = reading("empty", far.id)
    book = opened(near, far, empty, at_version={near.id: 3, far.id: 7})
    assert book.consumed(ORDERS.id) == 7
    assert opened(near, at_version={}).consumed(ORDERS.id) is None
    assert book.consumed(source("unread").id) is None


def test_a_table_that_somebody_stopped_waits_for_its_next_time():
    table = reading("t", ORDERS.id, schedule="10 minutes")
    book = opened(table, position=2)
    # It ran from the 10th to the 25th minute; its time of the 20th is over.
    book.let_be(table.id, at(10), at(25))
    book.schedule(table.id, at(10))
    assert book.next_start(at(25)) == at(30)
    assert book.is_behind(table.id)


def test_a_table_that_follows_changes_and_was_stopped_waits_for_the_next_one():
    table = reading("t", ORDERS.id, schedule="on change")
    book = opened(table, position=2)
    assert list(book.take_due(at(1))) == [table.id]
    book.let_be(table.id, at(1), at(2))
    for later in (book, Book.of(snapshot(table, generation=2), Rules(), at(3), book)):
        later.note_changes([table.id], at(3))
        assert list(later.take_due(at(3))) == []
    book.note_source(ORDERS.id, Version(3))
    book.note_changes([table.id], at(4))
    assert list(book.take_due(at(4))) == [table.id]
