"""The page of supported SQL is current, and every query on it does what the page says."""

from __future__ import annotations

import pytest

from streamtables.compiler.algebra import OPERATORS
from streamtables.compiler.plan import compile_sql
from tests.golden.constructs import CONSTRUCTS
from tests.golden.support_page import PAGE, page
from tests.support.choices import Seeded
from tests.support.histories import KEYS, TABLES
from tests.support.laws import check_laws, trial_of
from tests.support.queries import Query

KEPT = [sql for construct in CONSTRUCTS for sql in construct.kept]
REFUSED = [sql for construct in CONSTRUCTS for sql in construct.refused]


def test_the_page_of_supported_sql_is_what_the_compiler_and_the_cases_say(update_golden: bool):
    text = page()
    if update_golden:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "run `make golden` and review the difference"


@pytest.mark.parametrize(("seed", "sql"), list(enumerate(KEPT)))
def test_a_query_of_the_page_is_kept_on_a_random_history(seed: int, sql: str):
    trial = trial_of(Query(sql, (), deterministic=False), Seeded(seed))
    assert trial.plan.incremental, trial.plan.refusals
    check_laws(trial, turn=seed)


@pytest.mark.parametrize("sql", REFUSED)
def test_a_limit_of_the_page_is_refused(sql: str):
    assert compile_sql(sql, TABLES, KEYS).refusals


def test_every_operator_that_can_be_whole_says_why_and_has_an_example():
    text = PAGE.read_text(encoding="utf-8")
    for operator in OPERATORS:
        if operator.whole_because:
            line = f"| {operator.__name__} | {operator.whole_because} | `"
            assert line in text, f"no construct shows {operator.__name__} computed whole"
