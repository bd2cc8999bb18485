"""Rates are fitted from what refreshes took: exactly where that is possible, and never below 0."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from benchmarks.cost_fit import fit, fit_all, medians
from benchmarks.cost_rates import _SETTINGS, SHAPES, going_whole
from streamtables.compiler.plan import compile_sql
from streamtables.refresh import choosing
from streamtables.refresh.cost_model import WAYS, Rates, Sample, Way, Work
from streamtables.refresh.cost_rates import RATES
from streamtables.refresh.decide import Decision, Facts, decide


def chosen(facts: Facts) -> Decision:
    """Decide as a refresh does now."""
    answer: Decision = vars(choosing)["decide"](facts)
    return answer


WORKS = [
    Work(statements, changed, scanned, stored, lookups, passed, scans)
    for lookups, passed in ((0, 0), (2, 10_000), (3, 1_000_000))
    for statements in (1, 2, 3)
    for changed in (0, 1_000, 20_000)
    for scanned, stored in ((10_000, 500), (1_000_000, 500), (1_000_000, 400_000))
    for scans in (1, 4)
]
TRUE = Rates(0.2, 0.1, 3e-5, 2e-7, 1e-6, 0.02, 3e-8, 0.15)


def samples(way: Way, rates: Rates, factor: float = 1.0) -> list[Sample]:
    return [Sample(way, work, factor * rates.seconds(work)) for work in WORKS]


@pytest.mark.parametrize("way", ["changes", "merge"])
def test_rates_that_made_the_times_are_found_again(way: Way):
    # Only who follows small changes looks rows up.
    rates = TRUE if way == "changes" else replace(TRUE, lookup=0.0, passed_row=0.0)
    found = fit(way, medians(samples(way, rates)), RATES[way])
    assert astuple(found) == pytest.approx(astuple(rates), rel=1e-6)


@pytest.mark.parametrize("way", ["full", "whole"])
def test_ways_that_read_no_changes_have_no_rate_for_them(way: Way):
    rates = Rates(0.5, 0.05, 0.0, 4e-7, 8e-7)
    found = fit(way, medians(samples(way, rates)), RATES[way])
    assert found.changed_row == 0
    assert astuple(found) == pytest.approx(astuple(rates), rel=1e-6)


def test_no_rate_is_below_zero_whatever_was_measured():
    # The more is stored the less it takes: no rate can say that, so none is made up.
    points = {work: 1.0 + 1_000 / (1 + work.stored_rows) for work in WORKS}
    assert all(value >= 0 for value in astuple(fit("changes", points, TRUE)))


def test_what_is_the_same_in_all_refreshes_keeps_its_rate():
    points = {work: TRUE.seconds(work) for work in WORKS if work.statements == 2}
    in_use = Rates(9.0, 0.15, 9.0, 9.0, 9.0)
    found = fit("changes", points, in_use)
    assert found.statement == 0.15
    assert found.fixed == pytest.approx(TRUE.fixed + 2 * TRUE.statement - 2 * 0.15)
    assert found.stored_row == pytest.approx(TRUE.stored_row)


def test_a_rate_that_stays_and_says_more_than_was_taken_leaves_nothing_below_zero():
    points = {work: 0.1 for work in WORKS if work.statements == 2}
    assert all(value >= 0 for value in astuple(fit("changes", points, Rates(9, 9, 9, 9, 9))))


def test_one_slow_refresh_of_three_changes_nothing():
    calm = samples("changes", TRUE)
    slow = samples("changes", TRUE, factor=50)
    found = fit_all([*calm, *slow, *calm], RATES)["changes"]
    assert astuple(found.rates) == pytest.approx(astuple(TRUE), rel=1e-6)
    assert found.error == pytest.approx(0, abs=1e-6)
    assert found.error_before > 0.05
    assert found.works == len(WORKS)


def test_first_fills_and_ways_with_too_few_refreshes_are_left_out():
    cold = [Sample("full", s.work, s.seconds, cold=True) for s in samples("full", TRUE)]
    few = samples("merge", TRUE)[:4]
    assert fit_all([*cold, *few], RATES) == {}


def test_the_line_to_paste_is_python_and_says_what_was_found():
    found = fit_all(samples("changes", TRUE), RATES)["changes"]
    line = found.line().strip().rstrip(",")
    pasted = eval("{" + line + "}", {"Rates": Rates})
    assert astuple(pasted["changes"]) == pytest.approx(astuple(TRUE), rel=0.05)


def test_a_refresh_that_could_follow_changes_is_made_to_go_whole():
    facts = Facts("differential", filled=True, changed_rows=1)
    with going_whole():
        assert chosen(facts).way == "whole"
        assert chosen(Facts("differential", filled=False)).way == "full"
    assert chosen(facts) == decide(facts)
    assert chosen(facts).way == "changes"


def test_every_query_follows_changes():
    columns = ("id bigint", "customer_id bigint", "product_id bigint", "amount decimal(12,2)")
    orders = dict(column.split(" ", 1) for column in columns)
    tables = {"orders": orders, "customers": {"customer_id": "bigint", "city": "string"}}
    keys = {"orders": ["id"], "customers": ["customer_id"]}
    assert all(compile_sql(query, tables, keys).incremental for query in SHAPES.values())


def test_every_way_has_a_warehouse():
    assert _SETTINGS.keys() == set(WAYS)
