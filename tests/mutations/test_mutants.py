"""The oracle finds every wrong rule, and no fault in the right ones, on the same seeds."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from tests.mutations import (  # noqa: F401  # they list themselves
    operator_mutants,
    rewrite_mutants,
    rule_mutants,
    shape_mutants,
    state_mutants,
)
from tests.mutations.mutants import MUTANTS, Mutant, mutated
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import check_history
from tests.support.histories import KEYS, TABLES, random_history
from tests.support.laws import Trial, check_meaning
from tests.support.maintained_table import check_maintenance

pytestmark = pytest.mark.slow

SEEDS = range(40)


def difference(query: str, seed: int) -> str | None:
    """Return what the oracle finds on a seed: nothing, when the rules are right."""
    try:
        plan = compile_sql(query, TABLES, KEYS)
        trial = Trial(plan, random_history(Seeded(seed)))
        for check in (
            check_meaning,
            lambda _, database: check_history(plan, database, trial.batches),
            lambda _, database: check_maintenance(plan, database, trial.batches, seed // 10),
        ):
            database = trial.database()
            try:
                check(trial, database)
            finally:
                database.close()
    except Exception as found:
        # A wrong rule may also end in a statement that the engine rejects.
        return str(found) or type(found).__name__
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_killed_and_the_right_rule_lives(mutant: Mutant):
    with mutated(mutant):
        killed_by = next((seed for seed in SEEDS if difference(mutant.query, seed)), None)
    assert killed_by is not None, "the oracle did not notice"
    assert [difference(mutant.query, seed) for seed in range(killed_by + 1)] == [
        None for _ in range(killed_by + 1)
    ]
