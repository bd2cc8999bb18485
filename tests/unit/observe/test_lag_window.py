"""How long changes took to arrive, by a clock that a test moves."""

from __future__ import annotations

from datetime import timedelta

from streamtables.observe.lag_window import KEPT, LagWindow, Percentiles, percentiles
from tests.unit.catalog.builders import START, at


def test_percentiles_are_values_that_were_seen():
    assert percentiles([]) is None
    assert percentiles([4.0]) == Percentiles(4.0, 4.0, 4.0, 4.0, 1)
    hundred = [float(n) for n in range(100, 0, -1)]
    assert percentiles(hundred) == Percentiles(51.0, 96.0, 100.0, 100.0, 100)


def test_a_change_that_waited_shows_its_age_for_a_quarter_of_an_hour():
    window = LagWindow()
    window.note(at(0), {"orders": 42.5, "customers": 1.0})
    window.note(at(10), {"customers": 3.0})
    assert window.recent(at(15))["orders"].p99 == 42.5
    assert window.recent(at(15))["customers"] == Percentiles(3.0, 3.0, 3.0, 3.0, 2)
    later = window.recent(at(15) + timedelta(milliseconds=1))
    assert set(later) == {"customers"}
    assert later["customers"].drains == 1
    assert window.recent(at(26)) == {}


def test_a_new_leader_begins_with_what_others_recorded():
    window = LagWindow()
    window.note(START, {"orders": 9.0})
    window.begin_with([(at(1), {"orders": 1.0}), (at(2), {"orders": 2.0})])
    assert window.recent(at(2))["orders"] == Percentiles(2.0, 2.0, 2.0, 2.0, 2)


def test_memory_is_bounded():
    window = LagWindow()
    for _ in range(KEPT + 5):
        window.note(START, {"orders": 1.0})
    assert window.recent(START)["orders"].drains == KEPT
