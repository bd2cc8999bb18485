"""Random queries over groups that are stored apart are kept as if these were computed."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from tests.properties.test_incremental_equals_full import DEEPEST, FEWER
from tests.support.choices import Drawn, Seeded
from tests.support.groups_apart import check_groups_apart, over_stored_groups
from tests.support.laws import random_trial

SEEDS = range(40)


@FEWER
@given(st.data(), st.integers(0, 3))
def test_changes_over_stored_groups_lead_to_the_new_result(data: DataObject, way: int):
    trial = random_trial(Drawn(data), deepest=DEEPEST)
    over = over_stored_groups(trial.plan)
    assume(over is not None)
    assert over is not None
    check_groups_apart(trial, over, way)


def test_deeper_queries_over_stored_groups_lead_to_the_new_result():
    tried = 0
    for seed in SEEDS:
        trial = random_trial(Seeded(seed), deepest=2)
        if (over := over_stored_groups(trial.plan)) is not None:
            tried += 1
            check_groups_apart(trial, over, seed)
    assert tried >= 5
