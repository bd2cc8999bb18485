"""Which way a refresh goes, and the reason that is recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamtables.refresh.cost_model import Prediction, Way
from streamtables.refresh.decide import Facts, decide

SMALL = Facts(table_mode="differential", filled=True, changed_rows=1_000, source_rows=10**6)


def predicted(**seconds: float) -> dict[Way, Prediction]:
    return {way: Prediction(taken, like=3) for way, taken in seconds.items()}  # type: ignore[misc]


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
    decision = decide(replace(facts, predicted=predicted(changes=0.1, full=9.0)))
    assert (decision.way, decision.mode, decision.reason.code) == ("full", "full", code)


def test_an_altered_input_is_the_reason_of_its_readers() -> None:
    own = replace(SMALL, query_changed=True, rebuild="the query changed")
    assert decide(own).reason.text == "the query was altered since the last refresh"
    carried = replace(own, rebuild='"base", which it reads, was altered')
    assert decide(carried).reason.text == '"base", which it reads, was altered'


def test_small_changes_are_followed() -> None:
    decision = decide(SMALL)
    assert (decision.way, decision.mode) == ("changes", "differential")
    assert decision.reason.text == "1,000 changed rows since the last refresh"


def test_the_way_that_is_predicted_to_take_least_is_taken() -> None:
    facts = replace(SMALL, predicted=predicted(changes=4.0, whole=3.0, full=3.5))
    decision = decide(facts)
    assert (decision.way, decision.mode) == ("whole", "differential")
    assert decision.reason.code == "whole-was-faster"
    assert "following them 4.0 s, computing the query and comparing 3.0 s" in decision.reason.text
    assert decide(replace(facts, predicted=predicted(changes=2.0, whole=3.0))).way == "changes"


def test_changes_that_reach_far_are_not_followed_on_a_guess() -> None:
    guess = {**predicted(whole=3.0, full=3.5), "changes": Prediction(1.0)}
    facts = replace(SMALL, predicted=guess)
    assert decide(facts).way == "changes"
    far = decide(replace(facts, reaches_far=True))
    assert (far.way, far.reason.code) == ("whole", "whole-was-faster")
    assert "following them 4.5 s" in far.reason.text
    # Once it was measured, or where nothing else is open, it is followed.
    known = replace(facts, reaches_far=True, predicted=predicted(changes=1.0, whole=3.0))
    assert decide(known).way == "changes"
    alone = replace(facts, reaches_far=True, predicted={"changes": Prediction(9.0)})
    assert decide(alone).way == "changes"


def test_another_way_has_to_be_clearly_faster() -> None:
    facts = replace(SMALL, table_mode="auto")
    nearly = replace(facts, predicted=predicted(changes=2.0, whole=1.9, full=1.85))
    assert decide(nearly).way == "changes"
    clearly = replace(facts, predicted=predicted(changes=2.0, whole=1.9, full=1.7))
    assert decide(clearly).reason.code == "full-was-faster"


def test_full_is_chosen_only_where_mode_and_policy_allow_it() -> None:
    faster = replace(SMALL, predicted=predicted(changes=4.0, full=1.0))
    assert decide(faster).way == "changes"
    auto = replace(faster, table_mode="auto")
    assert decide(auto).way == "full"
    assert decide(replace(auto, full_allowed=False)).way == "changes"


def test_what_is_quick_anyway_follows_changes() -> None:
    quick = replace(SMALL, table_mode="auto", predicted=predicted(changes=0.4, full=0.1))
    assert decide(quick).way == "changes"
    assert decide(replace(quick, choose_from_seconds=0.3)).way == "full"


def test_a_guess_without_a_like_refresh_stays_within_sight_of_full() -> None:
    wild: dict[Way, Prediction] = {"changes": Prediction(100.0), "full": Prediction(2.0, like=2)}
    facts = replace(SMALL, table_mode="auto", predicted=wild)
    assert "following them 8.0 s" in decide(facts).reason.text


def test_a_way_not_taken_for_long_is_measured_again_if_it_may_be_about_as_fast() -> None:
    facts = replace(
        SMALL,
        table_mode="auto",
        predicted=predicted(changes=3.0, whole=2.0, full=5.0),
        untried={"changes": 20, "whole": 0, "full": 40},
    )
    decision = decide(facts)
    assert (decision.way, decision.reason.code) == ("changes", "explored")
    assert decide(replace(facts, explore_after=0)).way == "whole"
    assert decide(replace(facts, untried={"changes": 19, "full": 40})).way == "whole"


def test_while_nothing_is_predicted_a_large_share_of_changed_rows_is_recomputed() -> None:
    facts = replace(SMALL, table_mode="auto", small=False, changed_rows=400_000)
    assert decide(facts).reason.code == "large-change"
    assert decide(replace(facts, table_mode="differential")).way == "merge"
    assert decide(replace(facts, full_allowed=False)).way == "merge"
    assert decide(replace(facts, changed_rows=200_000)).way == "merge"


def test_large_changes_are_merged_or_recomputed_by_prediction() -> None:
    facts = replace(SMALL, table_mode="auto", small=False, changed_rows=400_000)
    assert decide(replace(facts, predicted=predicted(merge=4.0, full=9.0))).way == "merge"
    assert decide(replace(facts, predicted=predicted(merge=9.0, full=4.0))).way == "full"
