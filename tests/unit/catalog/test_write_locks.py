"""Locks of writes: who may write beside whom, and when a lock ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamtables.catalog import Catalog
from streamtables.catalog.write_locks import ALL, WriteLock

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(tmp_path / "catalog.db") as opened:
        yield opened


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        (WriteLock("t", "a"), WriteLock("t", "a"), True),
        (WriteLock("t", "a"), WriteLock("t", "b"), False),
        (WriteLock("t", "a"), WriteLock("t"), True),
        (WriteLock("t"), WriteLock("u"), False),
        (WriteLock(ALL), WriteLock("u", "a"), True),
    ],
)
def test_who_may_write_beside_whom(
    catalog: Catalog, first: WriteLock, second: WriteLock, meet: bool
) -> None:
    assert first.meets(second) == second.meets(first) == meet
    assert catalog.lock_for_write("one", {first}, NOW, 10) == frozenset()
    assert catalog.lock_for_write("two", {second}, NOW, 10) == ({"one"} if meet else frozenset())
    assert ("two" in catalog.write_lock_holders()) != meet


def test_all_locks_or_none(catalog: Catalog) -> None:
    catalog.lock_for_write("one", {WriteLock("t", "a")}, NOW, 10)
    wanted = {WriteLock("t", "a"), WriteLock("t", "b")}
    assert catalog.lock_for_write("two", wanted, NOW, 10) == {"one"}
    assert catalog.lock_for_write("three", {WriteLock("t", "b")}, NOW, 10) == frozenset()


def test_a_lock_ends_by_release_by_its_time_and_with_its_process(catalog: Catalog) -> None:
    lock = {WriteLock("t")}
    catalog.lock_for_write("one", lock, NOW, 10)
    catalog.unlock_write("one")
    assert catalog.lock_for_write("two", lock, NOW, 10) == frozenset()
    later = NOW + timedelta(seconds=11)
    assert catalog.lock_for_write("three", lock, later, 10) == frozenset()
    assert catalog.write_lock_holders() == {"three"}
    assert catalog.lock_for_write("four", lock, later, 10) == {"three"}
    assert catalog.lock_for_write("four", lock, later, 10, dead=["three"]) == frozenset()
    assert catalog.write_lock_holders() == {"four"}


def test_a_holder_may_take_more(catalog: Catalog) -> None:
    catalog.lock_for_write("one", {WriteLock("t", "a")}, NOW, 10)
    assert catalog.lock_for_write("one", {WriteLock("t", "a"), WriteLock("u")}, NOW, 10) == set()
    for lock in (WriteLock("t", "a"), WriteLock("u", "b")):
        assert catalog.lock_for_write("two", {lock}, NOW, 10) == {"one"}
