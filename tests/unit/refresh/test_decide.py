"""Which way a refresh goes, and the reason that is recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamtables.refresh.decide import Facts, Past, Timing, decide

SMALL = Facts(table_mode="differential", filled=True, changed_rows=1_000, source_rows=10**6)
SLOW_CHANGES = Past(full=Timing(3.0), changes=Timing(4.0, 1_000))


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(SMALL, filled=False), "first-fill"),
        (replace(SMALL, forced_full=True), "forced"),
        (replace(SMALL, query_changed=True), "query-changed"),
        (replace(SMALL, rebuild="the source was made anew"), "rebuild"),
        (replace(SMALL, table_mode="full"), "mode-full"),
        (replace(SMALL, refusal="rand() is not repeatable"), "not-incremental"),
    ],
)
def test_some_facts_leave_no_choice_but_full(facts: Facts, code: str) -> None:
    decision = decide(facts)
    assert (decision.way, decision.mode, decision.reason.code) == ("full", "full", code)


def test_small_changes_are_followed() -> None:
    decision = decide(SMALL)
    assert (decision.way, decision.mode) == ("changes", "differential")
    assert decision.reason.text == "1,000 changed rows since the last refresh"


def test_whole_is_tried_once_changes_took_about_as_long_as_full() -> None:
    decision = decide(replace(SMALL, past=SLOW_CHANGES))
    assert (decision.way, decision.mode) == ("whole", "differential")
    assert "following changes took 4.0 s, a full refresh 3.0 s" in decision.reason.text


def test_a_first_fill_says_less_of_what_full_would_take() -> None:
    warm = Past(full=Timing(10.0), changes=Timing(4.0, 1_000))
    assert decide(replace(SMALL, past=warm)).way == "changes"
    cold = replace(warm, full=Timing(10.0, cold=True))
    assert decide(replace(SMALL, past=cold)).way == "whole"
    dear = replace(cold, full=Timing(20.0, cold=True))
    assert decide(replace(SMALL, past=dear)).way == "changes"


def test_the_faster_of_two_known_ways_is_taken_again() -> None:
    faster = replace(SLOW_CHANGES, whole=Timing(2.5, 1_000), since_changes=3)
    assert decide(replace(SMALL, past=faster)).way == "whole"
    slower = replace(SLOW_CHANGES, whole=Timing(4.5, 1_000), since_changes=1)
    assert decide(replace(SMALL, past=slower)).way == "changes"


def test_changes_are_tried_again_now_and_then_and_when_they_are_far_fewer() -> None:
    whole = replace(SLOW_CHANGES, whole=Timing(2.5, 1_000), since_changes=20)
    assert decide(replace(SMALL, past=whole)).way == "changes"
    lately = replace(whole, since_changes=3)
    assert decide(replace(SMALL, past=lately, changed_rows=300)).way == "whole"
    assert decide(replace(SMALL, past=lately, changed_rows=200)).way == "changes"


def test_what_is_quick_anyway_or_cannot_be_compared_follows_changes() -> None:
    quick = Past(full=Timing(0.5), changes=Timing(0.9, 1_000))
    assert decide(replace(SMALL, past=quick)).way == "changes"
    assert decide(replace(SMALL, past=SLOW_CHANGES, comparable=False)).way == "changes"
    assert decide(replace(SMALL, past=SLOW_CHANGES, small=False)).way == "changes"


def test_in_mode_auto_full_is_the_ceiling_where_nothing_can_be_compared() -> None:
    facts = replace(SMALL, table_mode="auto", past=SLOW_CHANGES, comparable=False)
    decision = decide(facts)
    assert (decision.way, decision.reason.code) == ("full", "full-was-faster")


def test_in_mode_auto_a_large_share_of_changed_rows_is_recomputed() -> None:
    facts = replace(SMALL, table_mode="auto", small=False, changed_rows=400_000)
    assert decide(facts).reason.code == "large-change"
    assert decide(replace(facts, table_mode="differential")).way == "changes"
    assert decide(replace(facts, changed_rows=200_000)).way == "changes"


def test_in_mode_auto_large_changes_are_predicted_from_the_last_ones() -> None:
    past = Past(full=Timing(10.0), changes=Timing(5.0, 50_000))
    facts = replace(SMALL, table_mode="auto", small=False, changed_rows=120_000, past=past)
    assert decide(facts).reason.text == (
        "the last full refresh took 10.0 s, the changes would take 12.0 s"
    )
    assert decide(replace(facts, changed_rows=80_000)).way == "changes"
