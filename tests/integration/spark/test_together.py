"""Tables of a round that follow the same change are computed in one statement, on Spark."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import SHARE
from streamtables.engine.session import SparkSessions
from streamtables.errors import TransientError
from streamtables.refresh import small_way
from streamtables.refresh.cancelling import BEAT_SECONDS
from streamtables.refresh.results import Refresh
from streamtables.refresh.together import FAILED
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

COLUMNS = {
    "id": "bigint",
    "g": "string",
    "n": "int",
    "x": "double",
    "price": "decimal(12,2)",
    "at": "timestamp",
    "tags": "array<string>",
    "notes": "map<string,int>",
}
ROWS = [
    (i, f"g{i % 3}", 10 * i, float(i), None, 1_700_000_000_000_000 + i, [f"t{i}"], {"a": i})
    for i in range(8)
]
QUERIES = {
    "chosen": "SELECT id, n FROM t WHERE n > 20",
    "totals": "SELECT g, sum(n) AS s, count(*) AS c, sum(x) AS f, avg(price) AS p FROM t GROUP BY g",
    "ends": "SELECT g, min(x) AS low, max(at) AS last FROM t GROUP BY g",
    "distinct_names": "SELECT DISTINCT upper(g) AS `a``name.with` FROM t",
    "shaped": "SELECT id, struct(g, n) AS pair, tags, notes, NULL AS nothing FROM t",
    "opened": "SELECT id, tag FROM t LATERAL VIEW explode(tags) AS tag",
    "both": "SELECT id FROM t WHERE n > 50 UNION ALL SELECT n FROM t WHERE x < 3",
    "typed": "SELECT id, cast(n AS short) AS n, date(at) AS d, price * 2 AS p, x / 3 AS x FROM t",
    "none": "SELECT count(*) AS c, max(price) AS p FROM t",
    "with_cte": "WITH t_changes AS (SELECT * FROM t) SELECT g, count(n) AS c FROM t_changes GROUP BY g",
}


def source(db: StreamTables, folder: Path, name: str = "t") -> DeltaTableFile:
    table = DeltaTableFile(folder / name, COLUMNS, ROWS)
    db.add_source(name, path=folder / name, key="id")
    return table


def filled(db: StreamTables, queries: dict[str, str]) -> None:
    for name, query in queries.items():
        db.create(name, query, mode="differential")
    db.refresh_all()


def shared(db: StreamTables, name: str) -> dict[str, Any]:
    """Return what the last refresh tells of the statement that it had in common."""
    steps = {step.name: step.facts for step in db.history(name)[0].steps}
    return dict(steps.get(SHARE, {}))


def went(db: StreamTables) -> dict[str, Refresh]:
    """Refresh all tables, each of which must be equal to its query."""
    done = {result.table: result for result in db.refresh_all()}
    for name in done:
        assert db.verify(name).equal, name
    return done


CHANGES = [
    lambda t: t.append(
        (20, "g9", 95, None, None, None, None, None),
        (30, None, None, -0.0, None, 1, ["a", None, "a"], {"b": None}),
        (31, "g0", 2, float("inf"), None, 2, [], {}),
    ),
    lambda t: t.update("id IN (2, 20)", n="61", x="cast('NaN' as double)"),
    lambda t: t.delete("id IN (7, 31)"),
    lambda t: t.overwrite(ROWS[2:4]),
]


def test_every_table_is_its_query_after_each_change(db: StreamTables, tmp_path: Path):
    table = source(db, tmp_path)
    filled(db, QUERIES)
    together = 0
    for change in CHANGES:
        change(table)
        done = went(db)
        assert {r.outcome for r in done.values()} <= {"applied", "no-change"}
        assert not any(r.mode == "full" for r in done.values())
        facts = [found for name in QUERIES if (found := shared(db, name))]
        together += sum(found["tables"] > 1 for found in facts)
        assert sum(found["led"] for found in facts) < len(facts)
    assert together > 4 * len(CHANGES)


def test_alone_they_give_the_same_rows(tmp_path: Path, spark_sessions: SparkSessions):
    counts = {}
    for way, chosen in (("together", True), ("alone", False)):
        settings = settings_with(adaptive_batch_coalescing=chosen)
        folder = tmp_path / way
        with StreamTables(folder / "w", spark=spark_sessions.get(), settings=settings) as db:
            table = source(db, folder)
            filled(db, QUERIES)
            found = []
            for change in CHANGES:
                change(table)
                done = sorted(db.refresh_all(), key=lambda result: result.table)
                found += [(r.table, r.strategy, r.rows_inserted, r.rows_deleted) for r in done]
                assert any(shared(db, name) for name in QUERIES) == chosen
        counts[way] = found
    assert counts["together"] == counts["alone"]


def test_a_table_that_cannot_be_computed_fails_alone(db: StreamTables, tmp_path: Path):
    table = source(db, tmp_path)
    filled(
        db,
        {
            "first": "SELECT id, n FROM t",
            "divides": "SELECT id, 100 / n AS share FROM t WHERE id > 0",
            "last": "SELECT g, count(*) AS c FROM t GROUP BY g",
        },
    )
    table.append((40, "g", 0, 1.0, None, None, None, None))
    done = {result.table: result for result in db.refresh_all()}
    assert {name: r.outcome for name, r in done.items()} == {
        "first": "applied",
        "divides": "failed",
        "last": "applied",
    }
    assert done["divides"].error is not None
    assert "zero" in str(done["divides"].error.detail).lower()
    assert db.verify("first").equal
    assert db.verify("last").equal
    table.delete("id = 40")
    assert {r.outcome for r in went(db).values()} <= {"applied", "no-change"}


def test_who_leads_and_is_stopped_writes_nothing(
    db: StreamTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    table = source(db, tmp_path)
    filled(db, {"a": "SELECT id, n FROM t", "b": "SELECT g, sum(n) AS s FROM t GROUP BY g"})
    versions = {item.name: item.version for item in db.status()}

    def stopped(*_: object, **__: object) -> None:
        with StreamTables(db.warehouse) as other:
            assert other.cancel()
        # Longer than it takes until somebody looks whether a refresh is to stop.
        time.sleep(2.5 * BEAT_SECONDS)
        raise TransientError("the Spark job was cancelled")

    table.update("id = 3", n="7")
    with monkeypatch.context() as patched:
        patched.setattr(small_way, "run_together", stopped)
        done = {result.outcome: result.table for result in db.refresh_all()}
    assert set(done) == {"cancelled", "applied"}
    standing = {item.name: item.version for item in db.status()}
    assert standing[done["cancelled"]] == versions[done["cancelled"]]
    assert shared(db, done["applied"])["declined"] == FAILED.reason
    went(db)


def test_tables_over_a_stream_table_share_too(db: StreamTables, tmp_path: Path):
    table = source(db, tmp_path)
    filled(
        db,
        {
            "base": "SELECT id, g, n * 2 AS n FROM t WHERE n >= 0",
            "a": "SELECT g, sum(n) AS s FROM base GROUP BY g",
            "b": "SELECT id FROM base WHERE n > 10",
            "top": "SELECT a.g, b.id FROM a JOIN b ON a.s = b.id",
        },
    )
    table.update("id = 3", n="7")
    went(db)
    assert {name: shared(db, name).get("tables") for name in "ab"} == {"a": 2, "b": 2}
    assert shared(db, "base") == {}
    assert shared(db, "top") == {}


@pytest.mark.parametrize("limit", [0, 2])
def test_what_is_not_small_goes_its_own_way(
    tmp_path: Path, spark_sessions: SparkSessions, limit: int
):
    settings = settings_with(driver_rows_max=limit)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        table = source(db, tmp_path)
        filled(db, QUERIES)
        # Two rows, of which one query makes more than all of a statement may be.
        tags = [f"t{i}" for i in range(15)]
        table.append(*[(50 + i, "g", i, 1.0, None, None, tags, None) for i in range(2)])
        done = went(db)
        assert {r.outcome for r in done.values()} <= {"applied", "no-change"}
        assert all(shared(db, name).get("tables", 2) < len(QUERIES) for name in QUERIES)
        assert "tables" not in shared(db, "opened")
