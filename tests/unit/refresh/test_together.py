"""Tables of a round that are computed in one statement: who leads, who takes, who goes alone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pyarrow as pa
import pytest

from streamtables.compiler.backend.statement import Program
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.together import Branch
from streamtables.errors import QueryFailedError
from streamtables.positions import InputId, Version
from streamtables.refresh import together
from streamtables.refresh.together import (
    FAILED,
    MOST,
    MOVED_ON,
    NOBODY_WAITS,
    TOO_MANY_ROWS,
    TOOK_TOO_LONG,
    Alone,
    Part,
    Run,
    Taken,
    Together,
)
from streamtables.sources.changes import Window

SOURCE = InputId("source")
Expected = Callable[[InputId, Window], Part | None]


def part(name: str, *, upto: int = 2, sql: str = "", width: int = 1) -> Part:
    columns = tuple(f"x{number}" for number in range(width))
    program = Program((), sql or f"SELECT {name}", large=False, reads_table=False, columns=columns)
    changes = pa.table({"x": [1], "__st_weight": [1]})
    window = Window(SOURCE, "place", Version(1), Version(upto))
    return Part(InputId(name), window, Branch(program, "changes", changes))


def computed(branches: Sequence[Branch]) -> list[pa.Table]:
    """Give for each branch one row that says whose it is."""
    return [pa.table({"x": [branch.program.sql]}) for branch in branches]


def fail(branches: Sequence[Branch]) -> list[pa.Table]:
    raise QueryFailedError("a row cannot be divided by zero")


def plainly(key: InputId, window: Window) -> Part | None:
    return part(key)


def round_of(names: Iterable[str], expected: Expected = plainly) -> Together:
    found = tuple(InputId(name) for name in names)
    return Together(lambda key: found if key == SOURCE else (), expected)


def led(found: Together, name: str, run: Run = computed) -> int:
    """Return how many tables a leader computed."""
    taken = found.rows(part(name), run)
    assert isinstance(taken, Taken)
    assert taken.led
    return taken.tables


def took(found: Together, name: str) -> bool:
    """Whether a table finds rows, and they are its own."""
    taken = found.rows(part(name), fail)
    if isinstance(taken, Alone):
        return False
    assert not taken.led
    assert taken.rows.to_pydict() == {"x": [f"SELECT {name}"]}
    return True


def test_who_comes_first_computes_for_those_that_wait() -> None:
    found = round_of("abc")
    assert led(found, "a") == 3
    assert took(found, "b")
    assert took(found, "c")


def test_a_table_alone_is_left_alone() -> None:
    assert not round_of("a").concerns(part("a"))
    assert round_of("a").rows(part("a"), fail) == NOBODY_WAITS
    assert round_of("ab").concerns(part("a"))


def test_a_table_is_computed_for_once() -> None:
    found = round_of("ab")
    assert led(found, "a") == 2
    assert took(found, "b")
    assert not took(found, "b")
    assert found.rows(part("a"), fail) == NOBODY_WAITS, "it has had its turn"


@pytest.mark.parametrize("other", [part("b", upto=3), part("b", sql="SELECT other")])
def test_rows_of_another_window_or_program_are_not_taken(other: Part) -> None:
    found = round_of("ab")
    assert led(found, "a") == 2
    assert found.rows(other, fail) == MOVED_ON


def test_a_table_that_follows_another_window_is_not_computed_for() -> None:
    found = round_of("ab", lambda key, window: part(key, upto=7))
    assert found.rows(part("a"), fail) == NOBODY_WAITS
    assert not took(found, "b"), "it was asked for, and computes alone"


def wrong(key: InputId, window: Window) -> Part | None:
    raise QueryFailedError("what is wrong with it, it says itself")


def large(key: InputId, window: Window) -> Part | None:
    raise NotSmall("too many rows")


def broken(key: InputId, window: Window) -> Part | None:
    raise ZeroDivisionError


@pytest.mark.parametrize("expected", [lambda key, window: None, wrong, large, broken])
def test_what_is_wrong_with_a_table_does_not_touch_the_others(expected: Expected) -> None:
    def for_b(key: InputId, window: Window) -> Part | None:
        return expected(key, window) if key == "b" else part(key)

    found = round_of("abc", for_b)
    assert led(found, "a") == 2
    assert not took(found, "b")
    assert took(found, "c")


def none(branches: Sequence[Branch]) -> None:
    return None


def bug(branches: Sequence[Branch]) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(("run", "why"), [(fail, FAILED), (none, TOO_MANY_ROWS), (bug, FAILED)])
def test_where_the_statement_gives_nothing_each_computes_alone_and_says_why(
    run: Run, why: Alone
) -> None:
    found = round_of("abc")
    for name in "abc":
        assert found.rows(part(name), run) == why


def test_who_is_stopped_leaves_nobody_waiting() -> None:
    def stopped(branches: Sequence[Branch]) -> None:
        raise KeyboardInterrupt

    found = round_of("ab")
    with pytest.raises(KeyboardInterrupt):
        found.rows(part("a"), stopped)
    assert found.rows(part("b"), computed) == FAILED


def test_the_last_ones_are_taken_and_not_too_many() -> None:
    names = [f"t{number:02}" for number in range(3 * MOST)]
    found = round_of(names)
    for leader, last in (("t00", names[-1]), ("t01", names[-MOST])):
        assert led(found, leader) == MOST
        assert took(found, last)


def test_wide_tables_are_not_taken_together() -> None:
    found = round_of("abc", lambda key, window: part(key, width=100 if key == "c" else 50))
    taken = found.rows(part("a", width=60), computed)
    assert isinstance(taken, Taken)
    assert taken.tables == 2
    assert found.rows(part("b", width=50), fail) == NOBODY_WAITS


def test_who_leads_looks_at_a_bounded_number_of_tables() -> None:
    looked = []

    def nothing(key: InputId, window: Window) -> Part | None:
        looked.append(key)
        return None

    found = round_of([f"t{number:03}" for number in range(500)], nothing)
    assert found.rows(part("t000"), fail) == NOBODY_WAITS
    assert 0 < len(looked) <= 4 * MOST


def test_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_WAIT_SECONDS", 0.01)
    begun, ended = Event(), Event()

    def slow(branches: Sequence[Branch]) -> list[pa.Table]:
        begun.set()
        assert ended.wait(30)
        return computed(branches)

    found = round_of("ab")
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(led, found, "a", slow)
        assert begun.wait(30)
        assert found.rows(part("b"), fail) == TOOK_TOO_LONG
        ended.set()
        assert leader.result() == 2


def test_rows_that_were_taken_are_not_kept() -> None:
    found = round_of("ab")
    assert led(found, "a") == 2
    taken = found.rows(part("b"), fail)
    assert isinstance(taken, Taken)
    rows = weakref.ref(taken.rows)
    del taken
    gc.collect()
    assert rows() is None


def test_many_threads_get_their_own_rows_each() -> None:
    names = [f"t{number:02}" for number in range(60)]
    found = round_of(names)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda name: found.rows(part(name), computed), names))
    rows = [one for one in taken if isinstance(one, Taken)]
    for name, one in zip(names, taken, strict=True):
        if isinstance(one, Taken):
            assert one.rows.to_pydict() == {"x": [f"SELECT {name}"]}
    assert sum(one.tables for one in rows if one.led) == len(rows)
