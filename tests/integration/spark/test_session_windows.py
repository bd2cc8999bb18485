"""Session windows: the stored rows are those of the user's own text, as Spark runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import asked_bag, stored_bag

CALL = "session_window(timestamp_micros(at * 60000000), '5 minutes')"
BY_KIND = f"(SELECT {CALL} AS w, kind, count(*) AS n FROM seen GROUP BY {CALL}, kind)"
KEPT = {
    "by_all": f"SELECT {CALL} AS w, count(*) AS n FROM seen GROUP BY ALL",
    "by_all_within": f"SELECT {CALL} AS w, kind, sum(id) AS n FROM seen GROUP BY ALL",
    "regrouped": f"SELECT w, kind, sum(n) AS n FROM {BY_KIND} GROUP BY w, kind",
    "regrouped_alone": f"SELECT w, count(*) AS c FROM (SELECT {CALL} AS w FROM seen GROUP BY 1) GROUP BY w",
    "ungrouped": f"SELECT id, {CALL} AS w FROM seen",
}
LEFT_TO_SPARK = {
    "distinct": f"SELECT DISTINCT {CALL} AS w FROM seen",
    "derived": f"SELECT w, count(*) AS n FROM (SELECT {CALL} AS w FROM seen) GROUP BY w",
    "union": f"SELECT {CALL} AS w FROM seen UNION SELECT {CALL} AS w FROM seen",
    "fewer_groups": f"SELECT w, sum(n) AS n FROM {BY_KIND} GROUP BY w",
    "in_a_struct": f"SELECT s.w AS x, count(*) AS c FROM (SELECT struct(w, kind) AS s FROM {BY_KIND}) GROUP BY s.w",
}


@pytest.fixture
def seen(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    columns = {"id": "int", "kind": "string", "at": "bigint"}
    rows = [(1, "a", 0), (2, "a", 3), (3, "b", 20), (4, "b", 1), (5, "a", 12), (6, "b", None)]
    table = DeltaTableFile(tmp_path / "seen", columns, rows)
    db.add_source("seen", path=table.path, key=["id"])
    return table


def check(db: StreamTables, queries: dict[str, str]) -> None:
    for name, query in queries.items():
        assert stored_bag(db, name) == asked_bag(db, query), name


def test_sessions_are_those_of_the_text_while_they_are_joined_and_split(
    db: StreamTables, seen: DeltaTableFile
) -> None:
    for name, query in KEPT.items():
        db.create(name, query, mode="differential")
    db.refresh_all()
    check(db, KEPT)
    seen.append((7, "a", 8))
    db.refresh_all()
    check(db, KEPT)
    seen.delete("id in (2, 4)")
    assert {item.mode for item in db.refresh_all()} == {"differential"}
    check(db, KEPT)


def test_groups_in_which_spark_merges_sessions_are_kept_by_full_refreshes(
    db: StreamTables, seen: DeltaTableFile
) -> None:
    for name, query in LEFT_TO_SPARK.items():
        db.create(name, query, mode="auto")
    db.refresh_all()
    check(db, LEFT_TO_SPARK)
    seen.append((7, "a", 8))
    assert {item.mode for item in db.refresh_all()} == {"full"}
    check(db, LEFT_TO_SPARK)
    assert all(db.verify(name).equal for name in LEFT_TO_SPARK)
