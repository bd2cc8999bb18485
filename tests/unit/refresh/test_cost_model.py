"""Predictions: robust against a spike, quick to follow a change that stays, careful with guesses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.refresh.cost_model import (
    Prediction,
    Rates,
    Sample,
    Way,
    Work,
    bounded,
    predict,
    weighted_median,
)

RATES: dict[Way, Rates] = {
    "full": Rates(0.5, 0.0, 0.0, 1e-6, 0.0),
    "changes": Rates(0.1, 0.0, 1e-4, 0.0, 0.0),
    "whole": Rates(0.25, 0.0, 0.0, 1e-6, 0.0),
}
TEN = Work(changed_rows=10)
MANY = Work(changed_rows=100_000)


def past(*seconds: float, work: Work = TEN) -> list[Sample]:
    """Refreshes by changes, the newest first."""
    return [Sample("changes", work, taken) for taken in seconds]


def test_without_a_past_the_rates_of_the_machine_tell() -> None:
    assert predict("changes", TEN, (), RATES).seconds == pytest.approx(0.101)
    assert predict("changes", TEN, (), RATES, machine=3.0).seconds == pytest.approx(0.303)


def test_one_spike_changes_nothing() -> None:
    assert predict("changes", TEN, past(9.0, 0.2, 0.2, 0.2, 0.2), RATES).seconds == pytest.approx(
        0.2
    )


def test_what_stays_is_believed_within_five_refreshes() -> None:
    before = [0.2] * 20
    seen = [predict("changes", TEN, past(*[2.0] * n, *before), RATES).seconds for n in range(6)]
    assert seen[1] == pytest.approx(0.2)
    assert seen[5] == pytest.approx(2.0)


def test_a_sawtooth_is_followed_back_within_five_refreshes_of_its_spike() -> None:
    low, high = [0.2] * 8, [5.0] * 4
    seen = [predict("changes", TEN, past(*[0.2] * n, *high, *low), RATES).seconds for n in range(6)]
    assert seen[5] == pytest.approx(0.2)


def test_refreshes_of_another_size_say_less_than_like_ones() -> None:
    mixed = [*past(0.2, 0.2, 0.2), *past(40.0, 40.0, work=MANY)]
    found = predict("changes", MANY, mixed, RATES)
    assert found.seconds == pytest.approx(40.0)
    assert found.like == 2
    assert predict("changes", TEN, mixed, RATES).seconds == pytest.approx(0.2)


def test_refreshes_of_one_size_alone_are_scaled_by_the_rates() -> None:
    found = predict("changes", MANY, past(0.2, 0.2, 0.2), RATES)
    assert found.like == 0
    assert found.seconds == pytest.approx(0.2 / 0.101 * 10.1)


def test_a_first_fill_counts_for_half() -> None:
    first = Sample("full", Work(scanned_rows=10**6), 4.0, cold=True)
    found = predict("full", Work(scanned_rows=10**6), [first], RATES)
    assert found.seconds == pytest.approx(2.0)
    assert found.like == 1


def test_full_refreshes_tell_of_the_whole_way_until_it_was_taken_once() -> None:
    work = Work(scanned_rows=10**6)
    full = Sample("full", work, 3.0)
    assert predict("whole", work, [full], RATES, machine=9.0).seconds == pytest.approx(2 * 1.25)
    assert predict("whole", work, [full], RATES).like == 0
    own = Sample("whole", work, 0.5)
    assert predict("whole", work, [full, own], RATES).seconds == pytest.approx(0.5)
    assert predict("changes", TEN, [full], RATES).seconds == pytest.approx(0.101)


def test_a_guess_is_bounded_by_what_full_takes() -> None:
    full = Prediction(2.0, like=1)
    assert bounded(Prediction(50.0), full).seconds == 8.0
    assert bounded(Prediction(0.1), full).seconds == 1.0
    assert bounded(Prediction(50.0, like=1), full).seconds == 50.0
    assert bounded(Prediction(50.0), Prediction(2.0)).seconds == 50.0


@given(
    st.lists(st.tuples(st.floats(0.01, 100.0), st.floats(0.01, 1.0)), min_size=1),
)
def test_the_weighted_median_has_at_most_half_of_the_weight_on_either_side(
    weighed: list[tuple[float, float]],
) -> None:
    found = weighted_median(weighed)
    half = sum(weight for _, weight in weighed) / 2
    assert sum(weight for value, weight in weighed if value < found) <= half * (1 + 1e-9)
    assert sum(weight for value, weight in weighed if value > found) <= half * (1 + 1e-9)
