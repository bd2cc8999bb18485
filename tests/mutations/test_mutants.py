"""The oracle finds every wrong rule, and no fault in the right ones, on the same seeds."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from tests.mutations.mutants import MUTANTS, Mutant, mutated
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import check_history
from tests.support.histories import KEYS, TABLES, random_history
from tests.support.laws import Trial, check_meaning
from tests.support.maintained_table import check_maintenance

# One query for each part of the rules; every seed takes the next one.
QUERIES = (
    "SELECT r.id, u.b FROM r JOIN u ON r.a = u.a",
    "SELECT a, sum(b) AS s, count(b) AS n FROM u GROUP BY a",
    "SELECT u.b, v.f FROM u JOIN v USING (a) JOIN r ON r.b = u.b",
    "SELECT a, count(*) AS n FROM u GROUP BY a HAVING count(*) > 1",
    "SELECT a, max(b) AS m FROM u GROUP BY a",
    "SELECT a FROM r UNION ALL SELECT b FROM u",
    "SELECT count(*) AS n, sum(b) AS s FROM u",
    "SELECT x.a FROM (SELECT DISTINCT a, b FROM u) AS x",
    "SELECT r.a, g.n FROM r JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) AS g ON r.a = g.a",
    "SELECT x.b, y.b AS c FROM u AS x JOIN u AS y ON x.a = y.a",
)
SEEDS = range(80)


def difference(seed: int) -> str | None:
    """Return what the oracle finds on a seed: nothing, when the rules are right."""
    try:
        plan = compile_sql(QUERIES[seed % len(QUERIES)], TABLES, KEYS)
        trial = Trial(plan, random_history(Seeded(seed)))
        for check in (
            check_meaning,
            lambda _, database: check_history(plan, database, trial.history.batches),
            lambda _, database: check_maintenance(
                plan, database, trial.history.batches, seed // 10
            ),
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
def test_mutant_is_killed(mutant: Mutant):
    with mutated(mutant):
        assert any(difference(seed) for seed in SEEDS), "the oracle did not notice"


def test_the_right_rules_have_no_difference_on_the_same_seeds():
    assert [found for seed in SEEDS if (found := difference(seed))] == []
