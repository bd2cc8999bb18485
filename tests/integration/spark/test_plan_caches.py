"""A process that starts where another one has refreshed does not compile anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.refresh.plans import ClearedCaches
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, Shop, open_shop
from tests.support.spark_oracle import assert_equal_to_query

# One query for each form.
FORMS = {name: QUERIES[name] for name in ("bag", "state", "groups")}
CHILD = """
import json, sys
from dataclasses import replace
import sqlglot.tokens
from pathlib import Path
from streamtables.api import StreamTables
from streamtables.settings import load_settings

def refused(*_, **__):
    raise AssertionError("this process must not read SQL")

settings = replace(
    load_settings(),
    plan_cache_dir=Path(sys.argv[2]),
    driver_rows_max=int(sys.argv[3]),
    full_threshold=1.0,
    spark_master="local[2]",
)
with StreamTables(sys.argv[1], settings=settings) as db:
    sqlglot.tokens.Tokenizer.tokenize = refused
    results = db.refresh_all()
    outcomes = {r.table: [r.outcome, r.mode, str(r.error or "")] for r in results}
    print(json.dumps([outcomes, db.metrics_summary()["plan_cache"]]))
"""


def change(shop: Shop, number: int) -> None:
    """Change both tables in the same way, with other rows."""
    amount = f"{10 + number}.00"
    shop.orders.append((100 + number, 30, amount, "e"), (200 + number, 20, amount, "f"))
    shop.customers.append((300 + number, f"region {number}"))
    shop.customers.update("id = 20", region=f"'west {number}'")


def refreshed_elsewhere(warehouse: Path, plans: Path, driver_rows_max: int) -> list[dict]:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(warehouse), str(plans), str(driver_rows_max)],
        env=os.environ.copy(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return json.loads(child.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "driver_rows_max",
    [
        pytest.param(10_000, id="small"),
        pytest.param(0, id="through-spark", marks=pytest.mark.long),
    ],
)
def test_a_process_that_follows_a_fill_neither_parses_nor_differentiates(
    spark_sessions: SparkSessions, tmp_path: Path, driver_rows_max: int
) -> None:
    warehouse, plans = tmp_path / "w", tmp_path / "plans"
    settings = settings_with(plan_cache_dir=plans, driver_rows_max=driver_rows_max)
    with StreamTables(warehouse, spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        for name, query in FORMS.items():
            db.create(name, query)
        db.create("filled", QUERIES["join"], mode="full")
        assert {r.outcome for r in db.refresh_all()} == {"applied"}
        made = db.scheduler_diagnostics()
        assert made["plans_compiled"] == len(FORMS) + 1
        change(shop, 1)
        outcomes, counts = refreshed_elsewhere(warehouse, plans, driver_rows_max)
        assert {outcome for outcome, _, _ in outcomes.values()} == {"applied"}, outcomes
        modes = {name: mode for name, (_, mode, _) in outcomes.items()}
        assert modes == {**dict.fromkeys(FORMS, "differential"), "filled": "full"}
        assert (counts["parse_count"], counts["differentiate_count"]) == (0, 0)
        assert counts["l0"]["misses"] == 0
        for name in modes:
            assert_equal_to_query(db, name)


def test_clearing_counts_what_goes_and_the_next_refresh_fills_again(
    spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    settings = settings_with(plan_cache_dir=tmp_path / "plans")
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("state", QUERIES["state"])
        db.refresh("state")
        # Facts, the fill, three sets of changed tables, rows of state.
        assert db.clear_caches() == ClearedCaches(l0=6, l1=1, l2=6)
        change(shop, 1)
        assert db.refresh("state").outcome == "applied"
        # Facts, the fill that the changes are weighed against, the changes, rows of state.
        assert [level.entries for level in db.cache_levels()] == [1, 4, 4]
        assert_equal_to_query(db, "state")
        db.drop("state")
        assert [level.entries for level in db.cache_levels()] == [0, 0, 0]
