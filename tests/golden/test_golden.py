"""Golden files pin the shape of what the compiler makes; the oracle proves that it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.compiler.algebra import CLOCK_TABLE
from tests.golden.golden import Golden
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import Database, check_history
from tests.support.histories import random_history
from tests.support.laws import CLOCK
from tests.support.maintained_table import check_maintenance

FOLDER = Path(__file__).parent
PATHS = sorted(path for path in FOLDER.rglob("*.sql") if path.parent.name != "explain")
# What explain says of a query is pinned elsewhere; that its delta is right is proven here too.
EXPLAINED = [path for path in sorted((FOLDER / "explain").glob("*.sql")) if path.stem != "refused"]
SEEDS = range(3)


def _name(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


@pytest.mark.parametrize("path", PATHS, ids=_name)
def test_golden_file_is_what_the_compiler_gives(path: Path, update_golden: bool):
    text = Golden.read(path).text()
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run `make golden` and review the difference"


@pytest.mark.parametrize("path", [*PATHS, *EXPLAINED], ids=_name)
def test_golden_query_is_incremental_on_random_histories(path: Path):
    golden = Golden.read(path)
    plan = golden.plan()
    for seed in SEEDS:
        history = random_history(Seeded(seed), golden.tables)
        for check in (check_history, check_maintenance):
            database = Database({**golden.tables, **(CLOCK if plan.reads_clock else {})})
            for table, rows in history.start.items():
                database.fill(table, rows)
            if plan.reads_clock:
                database.fill(CLOCK_TABLE, [(history.moments[0],)])
            check(plan, database, history.with_clock() if plan.reads_clock else history.batches)
            database.close()
