"""Views and functions under a plan: when one is replaced, no level gives the plan of before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.refresh.plan_cache import KeptPlan
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

QUERY = "SELECT city, sum(worth_of(amount)) AS total FROM large GROUP BY city"
MARKED = "SELECT id, mark(amount) AS marked FROM orders"


def mark(amount: int) -> str:
    return str(amount)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def db(folder: Path) -> Iterator[StreamTables]:
    orders = DeltaTableFile(
        folder / "orders", {"id": "bigint", "city": "string", "amount": "int"}, [(1, "rome", 2)]
    )
    with opened(folder) as db:
        db.add_source("orders", path=orders.path, key=["id"])
        db.sql("CREATE VIEW large AS SELECT * FROM orders WHERE amount > 10")
        db.sql("CREATE FUNCTION worth_of(x INT) RETURNS DECIMAL(20,2) RETURN x * 2")
        db.register_function("mark", mark, returns="string")
        db.create("totals", QUERY)
        db.create("marked", MARKED)
        yield db


def opened(folder: Path) -> StreamTables:
    return StreamTables(folder / "w", settings=settings_with(plan_cache_dir=folder / "plans"))


def plan_of(db: StreamTables, name: str) -> KeptPlan:
    snapshot = db._catalog.snapshot()
    return db._around.plans.plan(snapshot.definitions.stream_table(name), snapshot.definitions)


MOVES: dict[str, Callable[[StreamTables], object]] = {
    "view": lambda db: db.sql(
        "CREATE OR REPLACE VIEW large AS SELECT * FROM orders WHERE amount > 77"
    ),
    "function": lambda db: db.sql(
        "CREATE OR REPLACE FUNCTION worth_of(x INT) RETURNS DECIMAL(20,2) RETURN x * 77"
    ),
    "query": lambda db: db.alter("totals", query=QUERY.replace("total", "total_77")),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_what_is_inlined_moves_the_plan_in_every_process(
    db: StreamTables, folder: Path, move: Callable[[StreamTables], object]
):
    old = plan_of(db, "totals")
    assert "77" not in old.stored.sql
    move(db)
    new = plan_of(db, "totals")
    assert new is not old
    assert "77" in new.stored.sql
    with opened(folder) as other:
        assert plan_of(other, "totals").stored == new.stored
        assert other._around.plans.counts.parse_count == 0


def test_a_python_function_that_is_no_longer_deterministic_moves_the_plan(
    db: StreamTables, folder: Path
):
    assert plan_of(db, "marked").facts.incremental
    db.register_function("mark", mark, returns="string", deterministic=False)
    assert not plan_of(db, "marked").facts.incremental
    with opened(folder) as other:
        assert not plan_of(other, "marked").facts.incremental
