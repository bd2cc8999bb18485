"""Refreshes that run at once: what each would have taken alone."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from streamtables.refresh.company import Company


class Timer:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_refresh_alone_has_all_of_its_time() -> None:
    timer = Timer()
    company = Company(2, timer)
    timer.now += 7
    with company.joined() as stay:
        assert stay.own_share == 1
        timer.now += 3
        assert stay.own_share == 1


@pytest.mark.parametrize(
    ("cores", "others", "share"),
    [(2, 3, 1 / 4), (1, 3, 1 / 4), (4, 3, 1 / 2), (8, 3, 1), (64, 3, 1), (8, 15, 1 / 4)],
)
def test_refreshes_at_once_share_the_cores(cores: int, others: int, share: float) -> None:
    timer = Timer()
    company = Company(cores, timer)
    with ExitStack() as stack:
        for _ in range(others):
            stack.enter_context(company.joined())
        stay = stack.enter_context(company.joined())
        timer.now += 10
        assert stay.own_share == pytest.approx(share)


def test_each_second_counts_by_the_company_of_that_second() -> None:
    timer = Timer()
    company = Company(2, timer)
    with company.joined() as stay:
        timer.now += 1
        with company.joined() as other:
            timer.now += 2
            assert other.own_share == pytest.approx(1 / 2)
        timer.now += 1
        # One second alone, two of which half counts, one alone.
        assert stay.own_share == pytest.approx(3 / 4)


def test_a_refresh_that_fails_leaves_the_company() -> None:
    timer = Timer()
    company = Company(2, timer)

    def fail() -> None:
        with company.joined():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with company.joined() as stay:
        timer.now += 5
        assert stay.own_share == 1


def test_what_all_took_alone_is_the_time_that_passed_where_cores_are_few() -> None:
    timer = Timer()
    company = Company(2, timer)
    alone = 0.0
    with ExitStack() as first:
        one = first.enter_context(company.joined())
        timer.now += 1
        with company.joined() as two:
            timer.now += 4
            alone += two.own_share * 4
        timer.now += 1
        alone += one.own_share * 6
    assert alone == pytest.approx(6)
