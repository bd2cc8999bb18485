"""The law of order is about something: the reordered deltas are other texts, and equal ones."""

from __future__ import annotations

from streamtables.compiler.plan import compile_sql
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import delta_text
from tests.support.histories import KEYS, TABLES, random_history
from tests.support.laws import Trial, check_order
from tests.support.term_order import reordered_deltas

# The rows of `r` look up one row each of three other tables, so its delta is seen from `r`.
STAR = """SELECT r.id, kv.n, t.c, ev.ts FROM r JOIN kv ON r.a = kv.a JOIN t ON r.b = t.id
JOIN ev ON r.b = ev.id"""


def test_every_order_is_another_statement():
    plan = compile_sql(STAR, TABLES, KEYS)
    others = set(reordered_deltas(plan, seed=1).values())
    assert len(others | {delta_text(plan)}) == 4


def test_a_star_of_joins_has_one_delta():
    plan = compile_sql(STAR, TABLES, KEYS)
    for seed in range(20):
        trial = Trial(plan, random_history(Seeded(seed)))
        database = trial.database()
        try:
            check_order(trial, database, seed)
        finally:
            database.close()
