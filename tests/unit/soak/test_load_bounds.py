"""What the load judges: the last third of its samples may hold little more than the second."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.soak.load import BARS, SAMPLES, Sample, bounds, permitted

FREE = permitted(active=100)
FLAT = Sample(megabytes=1_500, lag=12.0, files=4_000, log_files=2_000, records=5_000, events=500)


def growing(what: str, factor: float) -> list[Sample]:
    """Return samples of which one figure grows steadily, by a factor from the first to the last."""
    steps = [1 + (factor - 1) * number / (SAMPLES - 1) for number in range(SAMPLES)]
    return [replace(FLAT, **{what: round(getattr(FLAT, what) * step)}) for step in steps]


def test_what_stays_as_it_is_has_a_bound() -> None:
    assert bounds([FLAT] * SAMPLES, FREE) == []


def test_what_comes_and_goes_has_a_bound() -> None:
    waves = [replace(FLAT, files=4_000 + 900 * (number % 5)) for number in range(SAMPLES)]
    assert bounds(waves, FREE) == []


def test_what_grew_until_the_second_third_began_has_a_bound() -> None:
    third = SAMPLES // 3
    filling = [replace(FLAT, files=200 * number) for number in range(third)]
    assert bounds([*filling, *[FLAT] * (2 * third)], FREE) == []


@pytest.mark.parametrize("what", BARS)
def test_what_grows_is_named_alone(what: str) -> None:
    [told] = bounds(growing(what, 8), FREE)
    assert told.startswith(f"{what} grow: ")


@pytest.mark.parametrize("what", BARS)
def test_what_grows_less_than_its_bar_is_left_alone(what: str) -> None:
    assert bounds(growing(what, 1.2), FREE) == []


@pytest.mark.parametrize("what", FREE)
def test_what_grows_up_to_what_is_kept_for_good_is_left_alone(what: str) -> None:
    little = [replace(FLAT, **{what: 1})] * (2 * SAMPLES // 3)
    much = [replace(FLAT, **{what: round(FREE[what])})] * (SAMPLES // 3)
    assert bounds([*little, *much], FREE) == []


def test_every_figure_of_a_sample_has_a_bar() -> None:
    assert set(BARS) == set(Sample.__dataclass_fields__)


def test_too_few_samples_are_not_taken_for_a_bound() -> None:
    assert bounds([FLAT] * 5, FREE) == ["5 samples are too few to tell what grows"]
