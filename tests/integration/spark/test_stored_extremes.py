"""Least and greatest values as stored state, on Spark and Delta."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.compiler.maintenance import stored_state
from streamtables.engine.session import SparkSessions
from streamtables.refresh.small_way import COMBINE, LOST_GROUPS
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with
from tests.support.spark_oracle import refreshed

COLUMNS = {
    "id": "bigint",
    "g": "string",
    "n": "int",
    "p": "decimal(12,2)",
    "d": "date",
    "at": "timestamp",
    "s": "string",
    "b": "boolean",
}
EVERY_TYPE = """SELECT g, min(n) AS n1, max(n) AS n2, min(p) AS p1, max(d) AS d2, min(at) AS at1,
    max(s) AS s2, min(b) AS b1, max(n) FILTER (WHERE b) AS f2, sum(p) AS total, avg(n) AS mean
    FROM t GROUP BY g"""
COPIED = "SELECT g, max(n) AS high, sum(n) AS total FROM t GROUP BY g"
GLOBAL = "SELECT max(n) - min(n) AS spread, count(*) AS c FROM t"


def row(id_: int, g: str | None, n: int | None, b: bool | None = True) -> tuple[Any, ...]:
    if n is None:
        return (id_, g, None, None, None, None, None, b)
    moment = datetime(2024, 1, 1, 12, abs(n) % 60, tzinfo=UTC)
    return (id_, g, n, Decimal(n) / 4, date(2024, 1, 1 + abs(n) % 28), moment, f"w{n}", b)


START = [row(1, "a", 1), row(2, "a", 5, None), row(3, "b", 7), row(4, None, 3), row(5, None, 9)]


def source(db: StreamTables, folder: Path) -> DeltaTableFile:
    table = DeltaTableFile(folder / "t", COLUMNS, START)
    db.add_source("t", path=folder / "t", key="id")
    return table


def lost(db: StreamTables, name: str) -> Any:
    [step] = [step for step in db.history(name)[0].steps if step.name == COMBINE]
    return step.facts[LOST_GROUPS]


def test_only_groups_that_lost_their_extremum_are_computed_again(db: StreamTables, tmp_path: Path):
    table = source(db, tmp_path)
    for name, query in (("every", EVERY_TYPE), ("copied", COPIED), ("one", GLOBAL)):
        db.create(name, query, mode="differential")
        refreshed(db, name)
    steps: list[tuple[Any, tuple[int, int, int]]] = [
        (lambda: table.append(row(6, "a", 8), row(7, "c", None), row(8, None, 4)), (0, 0, 0)),
        (lambda: table.delete("id IN (6, 4)"), (2, 1, 0)),
        (lambda: table.update("id = 1", n="3", p="0.75"), (1, 0, 1)),
        (lambda: table.delete("id IN (3, 7)"), (0, 0, 0)),
    ]
    for change, expected in steps:
        change()
        found = []
        for name in ("every", "copied", "one"):
            assert refreshed(db, name).mode == "differential"
            found.append(lost(db, name))
        assert tuple(found) == expected


def test_large_changes_compute_touched_groups_and_keep_their_state(
    tmp_path: Path, spark_sessions: SparkSessions
):
    place, session = tmp_path / "w", spark_sessions.get()
    with StreamTables(place, spark=session, settings=settings_with(driver_rows_max=0)) as db:
        table = source(db, tmp_path)
        db.create("every", EVERY_TYPE, mode="differential")
        refreshed(db, "every")
        table.append(row(6, "a", -8), row(7, "c", 2))
        table.delete("id IN (4, 3)")
        assert refreshed(db, "every").mode == "differential"
    with StreamTables(place, spark=session, settings=settings_with()) as db:
        table.delete("id IN (6, 5)")
        assert refreshed(db, "every").mode == "differential"
        assert lost(db, "every") == 1


@pytest.mark.parametrize("rows_max", [10_000, 0], ids=["small", "large"])
def test_a_table_without_the_state_is_filled_anew_and_says_why(
    tmp_path: Path,
    spark_sessions: SparkSessions,
    monkeypatch: pytest.MonkeyPatch,
    rows_max: int,
):
    settings = settings_with(driver_rows_max=rows_max)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        table = source(db, tmp_path)
        with monkeypatch.context() as older:
            older.setattr(stored_state, "is_extremum", lambda call: False)
            db.create("copied", COPIED, mode="differential")
            refreshed(db, "copied")
            table.append(row(6, "a", 8))
            assert refreshed(db, "copied").mode == "differential"
        db.clear_caches()
        table.delete("id = 6")
        result = refreshed(db, "copied")
        assert (result.mode, result.reason.code) == ("full", "rebuild")
        assert "filled by a release that kept no __st_" in result.reason.text
        table.delete("id = 2")
        assert refreshed(db, "copied").mode == "differential"


def test_a_write_fills_such_a_table_first(
    db: StreamTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source(db, tmp_path)
    with monkeypatch.context() as older:
        older.setattr(stored_state, "is_extremum", lambda call: False)
        db.create("copied", COPIED, mode="immediate")
        refreshed(db, "copied")
    db.clear_caches()
    db.write("t", [dict(zip(COLUMNS, row(6, "a", 8), strict=True))])
    assert "filled by a release" in db.history("copied")[1].reason_text
    assert db.verify("copied").equal
    db.write("t", {"upsert": [dict(zip(COLUMNS, row(6, "a", 2), strict=True))]})
    assert db.verify("copied").equal
