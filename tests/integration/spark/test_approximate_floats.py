"""Sums of floats that are kept by adding where a table has the option for it, on Spark and Delta."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import ConfigError
from streamtables.refresh.results import Refresh
from streamtables.refresh.small_way import COMBINE, LOST_GROUPS
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

COLUMNS = {"id": "bigint", "g": "string", "x": "double", "y": "float"}
QUERY = "SELECT g, sum(x) AS s, avg(y) AS a, count(*) AS n FROM t GROUP BY g"
ALL_ROWS = "SELECT sum(x) AS s, round(avg(x), 3) AS a FROM t"
INFINITY, NAN = float("inf"), float("nan")
START = [
    (1, "a", 0.1, 0.1),
    (2, "a", 0.2, None),
    (3, "b", 1.0, 2.5),
    (4, None, None, None),
    (5, "c", 3.0, -3.0),
]


def source(db: StreamTables, folder: Path) -> DeltaTableFile:
    table = DeltaTableFile(folder / "t", COLUMNS, START)
    db.add_source("t", path=folder / "t", key="id")
    return table


def verified(db: StreamTables, name: str) -> Refresh:
    found = db.refresh(name)
    compared = db.verify(name)
    assert compared.equal, compared.sample
    return found


def lost(db: StreamTables, name: str) -> Any:
    [step] = [step for step in db.history(name)[0].steps if step.name == COMBINE]
    return step.facts[LOST_GROUPS]


def test_sums_are_added_to_and_what_they_cannot_tell_is_computed_again(
    db: StreamTables, tmp_path: Path
):
    table = source(db, tmp_path)
    for name, query in (("groups", QUERY), ("one", ALL_ROWS)):
        db.create(name, query, mode="differential", options={"approximate_floats": True})
        verified(db, name)
    steps: list[tuple[Any, tuple[int, int]]] = [
        (lambda: table.append((6, "a", 0.3, 0.3), (7, "d", 1e-9, 7.0)), (0, 0)),
        (lambda: table.delete("id = 2"), (0, 0)),
        (lambda: table.append((8, "b", 1e20, 1.0)), (0, 0)),
        # What 1 was beside 1e20 is gone, and the state knows that.
        (lambda: table.delete("id = 8"), (1, 1)),
        (lambda: table.append((9, "a", INFINITY, 1.0)), (1, 1)),
        (lambda: table.append((10, "a", -INFINITY, NAN)), (1, 1)),
        (lambda: table.delete("id IN (9, 10)"), (0, 0)),
        (lambda: table.delete("id IN (5, 4)"), (0, 0)),
    ]
    for number, (change, expected) in enumerate(steps):
        change()
        assert verified(db, "groups").mode == verified(db, "one").mode == "differential"
        assert (lost(db, "groups"), lost(db, "one")) == expected, f"step {number}"
    assert "stored sum" in db.explain("groups").text


def test_spark_alone_computes_touched_groups_and_keeps_their_state(
    tmp_path: Path, spark_sessions: SparkSessions
):
    place, session = tmp_path / "w", spark_sessions.get()
    options = {"approximate_floats": True}
    with StreamTables(place, spark=session, settings=settings_with(driver_rows_max=0)) as db:
        table = source(db, tmp_path)
        db.create("groups", QUERY, mode="differential", options=options)
        verified(db, "groups")
        table.append((6, "a", 0.3, 0.3), (7, "c", NAN, 0.7))
        assert verified(db, "groups").mode == "differential"
    with StreamTables(place, spark=session, settings=settings_with()) as db:
        table.delete("id IN (1, 3)")
        assert verified(db, "groups").mode == "differential"
        assert lost(db, "groups") == 0


def test_the_option_can_be_set_and_taken_back_and_the_table_stays_right(
    db: StreamTables, tmp_path: Path
):
    table = source(db, tmp_path)
    db.sql(f"CREATE STREAM TABLE groups OPTIONS (approximate_floats = true) AS {QUERY}")
    verified(db, "groups")
    for number, value in enumerate(("none", "true"), start=6):
        db.alter("groups", options={"approximate_floats": value})
        table.append((number, "a", 0.7, 0.3))
        verified(db, "groups")
        table.append((number + 10, "a", 0.7, 0.3))
        assert verified(db, "groups").mode == "differential"
    assert "stored sum" in db.explain("groups").text


def test_another_value_is_refused(db: StreamTables, tmp_path: Path):
    source(db, tmp_path)
    with pytest.raises(ConfigError, match="approximate_floats"):
        db.create("groups", QUERY, options={"approximate_floats": "perhaps"})
