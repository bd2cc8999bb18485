"""Random queries on random histories: what changes alone keep is what a full refresh gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from tests.support.choices import Drawn
from tests.support.duckdb_oracle import Database, check_history
from tests.support.histories import KEYS, TABLES
from tests.support.laws import Trial, check_halves, check_meaning, check_order, random_trial
from tests.support.maintained_table import WAYS, check_maintenance, check_nothing_changes

# The main law gets all examples of the profile, the others a fifth of them.
FEWER = settings(max_examples=max(8, settings().max_examples // 5))

# Deeper queries are tried by seed, where nothing has to be shrunk.
DEEPEST = 1


BROKEN_PROMISES = {table: ["a"] for table in TABLES}
"""Keys that hold for one table of all."""


def _hold(
    data: DataObject,
    law: Callable[[Trial, Database], None],
    keys: Mapping[str, Sequence[str]] = KEYS,
) -> None:
    trial = random_trial(Drawn(data), deepest=DEEPEST, keys=keys)
    assume(trial.plan.incremental)
    database = trial.database()
    try:
        law(trial, database)
    finally:
        database.close()


@given(st.data())
def test_the_delta_added_to_the_old_result_is_the_new_result(data: DataObject):
    _hold(data, lambda trial, db: check_history(trial.plan, db, trial.batches))


@given(st.data(), st.integers(0, len(WAYS) - 1))
def test_the_maintained_table_is_the_new_result(data: DataObject, way: int):
    _hold(data, lambda trial, db: check_maintenance(trial.plan, db, trial.batches, way))


@FEWER
@given(st.data())
def test_no_row_depends_on_a_key_that_was_promised(data: DataObject):
    def law(trial: Trial, database: Database) -> None:
        check_meaning(trial, database)
        check_history(trial.plan, database, trial.batches)

    _hold(data, law, BROKEN_PROMISES)


@FEWER
@given(st.data())
def test_the_defining_query_means_what_was_written(data: DataObject):
    _hold(data, check_meaning)


@FEWER
@given(st.data())
def test_the_delta_of_a_batch_is_that_of_its_halves_in_turn(data: DataObject):
    _hold(data, check_halves)


@FEWER
@given(st.data(), st.integers(0, 99))
def test_the_order_of_terms_and_of_join_inputs_does_not_matter(data: DataObject, seed: int):
    _hold(data, lambda trial, db: check_order(trial, db, seed))


@FEWER
@given(st.data())
def test_a_refresh_without_changes_has_an_empty_delta(data: DataObject):
    _hold(data, lambda trial, db: check_nothing_changes(trial.plan, db))
