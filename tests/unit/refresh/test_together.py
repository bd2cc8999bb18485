"""Tables of a round that are computed in one statement: who leads, who takes, who goes alone."""

from __future__ import annotations

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
from streamtables.refresh.together import MOST, Part, Together
from streamtables.sources.changes import Window

SOURCE = InputId("source")


def part(name: str, *, upto: int = 2, sql: str = "") -> Part:
    program = Program((), sql or f"SELECT {name}", reads_table=False, columns=("x",))
    changes = pa.table({"x": [1], "__st_weight": [1]})
    window = Window(SOURCE, "place", Version(1), Version(upto))
    return Part(InputId(name), window, Branch(program, "changes", changes))


def computed(branches: Sequence[Branch]) -> list[pa.Table]:
    """Give for each branch one row that says whose it is."""
    return [pa.table({"x": [branch.program.sql]}) for branch in branches]


def fail(branches: Sequence[Branch]) -> list[pa.Table]:
    raise QueryFailedError("a row cannot be divided by zero")


def round_of(names: Iterable[str], **other: object) -> Together:
    found = tuple(InputId(name) for name in names)
    expected = other.get("expected", part)
    assert callable(expected)
    return Together(lambda key: found if key == SOURCE else (), expected)


def test_who_comes_first_computes_for_those_that_wait() -> None:
    found = round_of("abc")
    led = found.rows(part("a"), computed)
    assert led is not None
    assert (led.tables, led.led) == (3, True)
    for name in "bc":
        taken = found.rows(part(name), fail)
        assert taken is not None
        assert (taken.tables, taken.led) == (3, False)
        assert taken.rows.to_pydict() == {"x": [f"SELECT {name}"]}


def test_a_table_alone_is_left_alone() -> None:
    assert not round_of("a").concerns(part("a"))
    assert round_of("a").rows(part("a"), fail) is None
    assert round_of("ab").concerns(part("a"))


def test_a_table_is_computed_for_once() -> None:
    found = round_of("ab")
    assert found.rows(part("a"), computed) is not None
    assert found.rows(part("b"), computed) is not None
    assert found.rows(part("a"), fail) is None, "whoever has had its turn leads nobody again"


@pytest.mark.parametrize("other", [part("b", upto=3), part("b", sql="SELECT other")])
def test_rows_of_another_window_or_program_are_not_taken(other: Part) -> None:
    found = round_of("ab")
    assert found.rows(part("a"), computed) is not None
    assert found.rows(other, fail) is None


def test_a_table_that_follows_another_window_is_not_computed_for() -> None:
    found = round_of("ab", expected=lambda key: part(key, upto=7))
    assert found.rows(part("a"), fail) is None
    assert found.rows(part("b", upto=7), computed) is None, "it was asked for, and computes alone"


def wrong(key: InputId) -> Part | None:
    raise QueryFailedError("what is wrong with it, it says itself")


def large(key: InputId) -> Part | None:
    raise NotSmall("too many rows")


def broken(key: InputId) -> Part | None:
    raise ZeroDivisionError


@pytest.mark.parametrize("expected", [lambda key: None, wrong, large, broken])
def test_what_is_wrong_with_a_table_does_not_touch_the_others(
    expected: Callable[[InputId], Part | None],
) -> None:
    def for_b(key: InputId) -> Part | None:
        return expected(key) if key == "b" else part(key)

    found = round_of("abc", expected=for_b)
    led = found.rows(part("a"), computed)
    assert led is not None
    assert led.tables == 2
    assert found.rows(part("b"), fail) is None
    assert found.rows(part("c"), fail) is not None


def none(branches: Sequence[Branch]) -> None:
    return None


@pytest.mark.parametrize("run", [fail, none])
def test_where_the_statement_gives_nothing_each_computes_alone(
    run: Callable[[Sequence[Branch]], list[pa.Table] | None],
) -> None:
    found = round_of("abc")
    assert found.rows(part("a"), run) is None
    for name in "bc":
        assert found.rows(part(name), computed) is None


def test_a_fault_of_ours_reaches_the_leader_and_leaves_nobody_waiting() -> None:
    def bug(branches: Sequence[Branch]) -> None:
        raise ZeroDivisionError

    found = round_of("ab")
    with pytest.raises(ZeroDivisionError):
        found.rows(part("a"), bug)
    assert found.rows(part("b"), computed) is None


def test_the_last_ones_are_taken_and_not_too_many() -> None:
    names = [f"t{number:02}" for number in range(3 * MOST)]
    found = round_of(names)
    for leader, last in (("t00", names[-1]), ("t01", names[-MOST])):
        led = found.rows(part(leader), computed)
        assert led is not None
        assert led.tables == MOST
        assert found.rows(part(last), fail) is not None, "its rows are there"


def test_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_WAIT_SECONDS", 0.01)
    begun, ended = Event(), Event()

    def slow(branches: Sequence[Branch]) -> list[pa.Table]:
        begun.set()
        assert ended.wait(30)
        return computed(branches)

    found = round_of("ab")
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(found.rows, part("a"), slow)
        assert begun.wait(30)
        assert found.rows(part("b"), fail) is None
        ended.set()
        assert leader.result() is not None


def test_many_threads_get_their_own_rows_each() -> None:
    names = [f"t{number:02}" for number in range(60)]
    found = round_of(names)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda name: found.rows(part(name), computed), names))
    for name, rows in zip(names, taken, strict=True):
        if rows is not None:
            assert rows.rows.to_pydict() == {"x": [f"SELECT {name}"]}
    led = [rows for rows in taken if rows is not None and rows.led]
    assert sum(rows.tables for rows in led) == sum(rows is not None for rows in taken)
