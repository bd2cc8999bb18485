"""The first rows of an order, kept by those that are stored, on Spark and Delta."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamtables.api import StreamTables
from streamtables.compiler import plan
from streamtables.engine.session import SparkSessions
from streamtables.refresh.small_way import COMBINE, LOST_GROUPS
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with
from tests.support.spark_oracle import refreshed

COLUMNS = {"id": "bigint", "g": "string", "n": "int", "x": "double"}
START = [(i, f"g{i % 4}", 10 * i, float(i)) for i in range(10)]
QUERIES = {
    "shown": "SELECT id, n FROM t ORDER BY n DESC LIMIT 3",
    "hidden": "SELECT upper(g) AS g FROM t ORDER BY n DESC, x LIMIT 3",
    "of_groups": "SELECT g, sum(n) AS s, sum(x) AS f FROM t GROUP BY g ORDER BY s DESC LIMIT 2",
}


def source(db: StreamTables, folder: Path) -> DeltaTableFile:
    table = DeltaTableFile(folder / "t", COLUMNS, START)
    db.add_source("t", path=folder / "t", key="id")
    return table


def lost(db: StreamTables, name: str) -> Any:
    [step] = [step for step in db.history(name)[0].steps if step.name == COMBINE]
    return step.facts[LOST_GROUPS]


def test_all_rows_are_looked_at_only_where_too_many_of_the_first_went(
    db: StreamTables, tmp_path: Path
):
    table = source(db, tmp_path)
    for name, query in QUERIES.items():
        db.create(name, query, mode="differential")
        refreshed(db, name)
    steps: list[tuple[Any, tuple[int, int, int]]] = [
        (lambda: table.append((20, "g9", 95, None), (21, "g1", -5, -0.0)), (0, 0, 0)),
        (lambda: table.update("id = 20", n="91", x="cast('NaN' as double)"), (0, 0, 0)),
        (lambda: table.delete("id IN (9, 20)"), (1, 1, 1)),
        (lambda: table.update("id = 8", n="1"), (1, 1, 1)),
        (lambda: table.overwrite([(1, "a", 2, 0.0), (2, None, None, None)]), (1, 1, 1)),
        (lambda: table.append((3, "a", 0, -0.0), (4, "b", 9, 1.0)), (0, 0, 0)),
    ]
    for change, expected in steps:
        change()
        found = []
        for name in QUERIES:
            # A change behind the first rows is none of theirs.
            assert refreshed(db, name).mode in ("differential", "no-change")
            found.append(lost(db, name))
        assert tuple(found) == expected


def test_spark_alone_takes_the_first_rows_of_all(tmp_path: Path, spark_sessions: SparkSessions):
    settings = settings_with(driver_rows_max=0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        table = source(db, tmp_path)
        for name, query in QUERIES.items():
            db.create(name, query, mode="differential")
            refreshed(db, name)
        table.delete("id > 7")
        for name in QUERIES:
            assert refreshed(db, name).mode == "differential"


def test_a_write_is_among_the_first_at_once(db: StreamTables, tmp_path: Path):
    source(db, tmp_path)
    db.create("hidden", QUERIES["hidden"], mode="immediate")
    refreshed(db, "hidden")
    added = {"id": [30], "g": ["first"], "n": pa.array([999], pa.int32()), "x": [0.5]}
    db.write("t", pa.table(added))
    assert [row.g for row in db.read("hidden").collect()].count("FIRST") == 1
    assert db.verify("hidden").equal


def test_a_table_without_the_hidden_order_is_filled_anew_and_says_why(
    db: StreamTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    table = source(db, tmp_path)
    with monkeypatch.context() as older:
        older.setattr(plan, "carry_order", lambda root: root)
        db.create("hidden", QUERIES["hidden"], mode="differential")
        refreshed(db, "hidden")
    db.clear_caches()
    table.delete("id = 9")
    result = refreshed(db, "hidden")
    assert (result.mode, result.reason.code) == ("full", "rebuild")
    assert "filled by a release that kept no __st_order_1" in result.reason.text
    table.delete("id = 8")
    assert refreshed(db, "hidden").mode == "differential"
