"""Tidying up beside the work: one table at a time, rarely, and each time told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from streamtables.catalog.scheduler_models import EVERYTHING, Pause, Rules
from streamtables.errors import EnvironmentFaultError
from streamtables.positions import InputId, Version
from streamtables.refresh.upkeep import Kept
from streamtables.scheduler.book import Book
from streamtables.scheduler.housekeeping import EVERY, Housekeeping
from streamtables.settings import Settings
from tests.unit.catalog.builders import START
from tests.unit.scheduler.test_book import ORDERS, opened, reading

TABLES = [reading(name, ORDERS.id) for name in "abc"]


@dataclass
class Tidier:
    """Notes which tables it was given."""

    seen: list[str] = field(default_factory=list)
    error: EnvironmentFaultError | None = None

    def wants(self, table: InputId, version: Version) -> bool:
        return table != TABLES[1].id

    def keep(self, table: Any, *_: object) -> Iterator[Kept]:
        self.seen.append(table.name)
        yield Kept(table.name, "checkpoint", "done", self.error)


@pytest.fixture
def tidier() -> Tidier:
    return Tidier()


@pytest.fixture
def keeping(tidier: Tidier) -> Housekeeping:
    catalog = SimpleNamespace(prune_history=lambda keep: 0, prune_epochs=lambda: 0)
    around: Any = SimpleNamespace(catalog=catalog, settings=Settings(), upkeep=tidier)
    return Housekeeping(around)


@pytest.fixture
def book() -> Book:
    return opened(*TABLES)


def test_nothing_happens_soon_after_the_start(
    keeping: Housekeeping, book: Book, tidier: Tidier
) -> None:
    assert keeping.tidy(book, START) == []
    assert keeping.tidy(book, START + EVERY / 2) == []
    assert tidier.seen == []


def test_each_tick_takes_one_table_that_wants_it(
    keeping: Housekeeping, book: Book, tidier: Tidier
) -> None:
    keeping.tidy(book, START)
    told = [keeping.tidy(book, START + EVERY + timedelta(minutes=n)) for n in range(4)]
    assert tidier.seen == ["c", "a"]
    assert [event.text for events in told for event in events] == ["checkpoint: done"] * 2
    assert {event.kind for events in told for event in events} == {"tidied"}


def test_after_a_table_it_rests(keeping: Housekeeping, book: Book, tidier: Tidier) -> None:
    keeping.tidy(book, START)
    keeping.tidy(book, START + EVERY)
    assert keeping.rest_until is not None
    keeping.tidy(book, keeping.rest_until - timedelta(microseconds=1))
    assert tidier.seen == ["c"]


def test_what_failed_is_told_as_that(keeping: Housekeeping, book: Book, tidier: Tidier) -> None:
    tidier.error = EnvironmentFaultError("no")
    keeping.tidy(book, START)
    [event] = keeping.tidy(book, START + EVERY)
    assert event.kind == "not-tidied"


def test_a_scheduler_that_is_never_idle_tidies_up_beside_its_work(
    keeping: Housekeeping, book: Book
) -> None:
    assert not keeping.waits_for_long(START)
    keeping.tidy(book, START)
    assert not keeping.waits_for_long(START + EVERY)
    assert keeping.waits_for_long(START + 2 * EVERY)


def test_what_is_paused_is_not_tidied_up(keeping: Housekeeping, book: Book, tidier: Tidier) -> None:
    book.rules = Rules(pauses={EVERYTHING: Pause(EVERYTHING, "maintenance", START)})
    keeping.tidy(book, START)
    keeping.tidy(book, START + EVERY)
    assert tidier.seen == []
