"""Pressure rises after some cycles past the threshold and falls below half of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.scheduler.backpressure import Pressure, judge, yields


def history(pending: list[int], *, threshold: int = 100, cycles: int = 3) -> list[Pressure]:
    found = [Pressure()]
    for rows in pending:
        found.append(judge(found[-1], rows, threshold, cycles))
    return found[1:]


def test_an_alert_is_raised_once_after_enough_cycles_in_a_row():
    found = history([101, 101, 101, 101, 500])
    assert [state.alert for state in found] == [False, False, True, False, False]
    assert [state.high for state in found] == [False, False, True, True, True]


def test_a_cycle_at_the_threshold_begins_the_count_anew():
    assert not any(state.alert for state in history([101, 101, 100, 101, 101]))


def test_pressure_stays_between_the_threshold_and_half_of_it():
    found = history([101, 101, 101, 99, 50, 49, 0])
    assert [state.high for state in found] == [False, False, True, True, True, False, False]
    assert [state.cleared for state in found] == [False] * 5 + [True, False]


def test_pressure_that_was_cleared_has_to_build_up_again():
    found = history([101, 101, 101, 0, 101, 101, 101])
    assert [state.alert for state in found] == [False, False, True, False, False, False, True]


def test_a_threshold_of_nothing_judges_nobody_and_clears_what_was_high():
    assert history([10**9], threshold=0, cycles=1) == [Pressure()]
    assert judge(Pressure(over=5, high=True), 10**9, 0, 1) == Pressure(cleared=True)


@given(
    pending=st.lists(st.integers(0, 200), max_size=40),
    threshold=st.integers(1, 150),
    cycles=st.integers(0, 4),
)
def test_alerts_and_clearings_take_turns(pending, threshold, cycles):
    found = history(pending, threshold=threshold, cycles=cycles)
    turns = [
        "alert" if state.alert else "cleared" for state in found if state.alert or state.cleared
    ]
    assert turns == ["alert", "cleared"] * (len(turns) // 2) + ["alert"] * (len(turns) % 2)
    assert not any(state.alert and state.cleared for state in found)
    for rows, state in zip(pending, found, strict=True):
        assert rows <= threshold or cycles > 1 or state.high
        assert rows >= threshold / 2 or not state.high


@pytest.mark.parametrize(
    ("tier", "waits"), [("hot", False), ("warm", True), ("cold", True), ("frozen", True)]
)
def test_all_but_hot_tables_yield_while_a_source_is_under_pressure(tier: str, waits: bool):
    assert yields(tier, [Pressure(), Pressure(high=True)]) == waits
    assert not yields(tier, [Pressure(over=2), Pressure(cleared=True)])
    assert not yields(tier, [])
