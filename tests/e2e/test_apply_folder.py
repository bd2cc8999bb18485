"""A folder of SQL files as a project: created, left alone, altered, pruned; no Spark needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import AlreadyExistsError, InUseError
from tests.support.delta_tables import DeltaTableFile


def test_a_folder_is_applied_until_the_catalog_agrees_with_it(tmp_path: Path) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint", "a": "int"}, [(1, 1)])
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "1.sql").write_text("CREATE STREAM TABLE top AS SELECT a FROM base WHERE n > 1")
    (folder / "2.sql").write_text(
        "CREATE STREAM TABLE base AS SELECT a, count(*) AS n FROM orders GROUP BY a"
    )
    with StreamTables(tmp_path / "warehouse") as db:
        db.add_source("orders", path=orders.path)
        plan = db.plan_apply(folder)
        assert [item[:2] for item in plan.items] == [("create", "base"), ("create", "top")]
        assert db.stream_tables() == []
        db.apply(plan)
        assert {item[0] for item in db.plan_apply(folder).items} == {"unchanged"}
        (folder / "2.sql").write_text(
            "CREATE STREAM TABLE base MODE DIFFERENTIAL AS "
            "SELECT a, count(*) AS n FROM orders GROUP BY a"
        )
        (folder / "1.sql").unlink()
        plan = db.plan_apply(folder, prune=True)
        assert [item[:2] for item in plan.items] == [("alter", "base"), ("drop", "top")]
        db.apply(plan)
        assert [(table.name, table.mode) for table in db.stream_tables()] == [
            ("base", "differential")
        ]


def test_a_dropped_table_takes_its_own_rows_along_and_nothing_else(tmp_path: Path) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    with StreamTables(tmp_path / "warehouse") as db:
        db.add_source("orders", path=orders.path)
        table = db.create("t", "SELECT id FROM orders")
        DeltaTableFile(Path(table.location), {"id": "bigint"}, [(1,)])
        db.drop("t")
        assert not Path(table.location).exists()
        assert orders.open().version() == 0


def write(folder: Path, **queries: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, query in queries.items():
        kind = "VIEW" if name.startswith("view") else "STREAM TABLE"
        (folder / f"{name}.sql").write_text(f"CREATE {kind} {name} AS {query}")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    columns = {"id": "bigint", "a": "int", "b": "string"}
    orders = DeltaTableFile(tmp_path / "orders", columns, [(1, 1, "x")])
    with StreamTables(tmp_path / "warehouse") as db:
        db.add_source("orders", path=orders.path, key=["id"])
        yield db


def test_tables_that_only_fit_together_are_altered_together(
    db: StreamTables, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    write(
        folder,
        base="SELECT id, a FROM orders",
        view_a="SELECT a FROM base",
        top="SELECT a, count(*) AS n FROM view_a GROUP BY a",
    )
    db.apply(db.plan_apply(folder))
    db.create("outside", "SELECT * FROM base")
    write(
        folder,
        base="SELECT id, b FROM orders",
        view_a="SELECT b FROM base",
        top="SELECT b, count(*) AS n FROM fresh GROUP BY b",
        fresh="SELECT b, id FROM base JOIN view_b USING (b)",
        view_b="SELECT DISTINCT b FROM view_a",
    )
    plan = db.plan_apply(folder)
    details = {name: (action, text) for action, name, text in plan.items}
    assert details["base"] == (
        "alter",
        "query: adds column b, removes column a, no rows yet: the first refresh fills it; "
        "carries over outside: adds column b, removes column a, "
        "no rows yet: the first refresh fills it",
    )
    assert [details[name][0] for name in ("view_a", "top", "fresh")] == ["alter", "alter", "create"]
    db.apply(plan)
    assert {item[0] for item in db.plan_apply(folder).items} == {"unchanged"}
    tables = {table.name: [column.name for column in table.columns] for table in db.stream_tables()}
    assert tables == {
        "base": ["id", "b"],
        "fresh": ["b", "id"],
        "outside": ["id", "b"],
        "top": ["b", "n"],
    }
    done = {(event.text.split(" by ")[0], event.subject) for event in db.audit_log(limit=5)}
    assert ("alter", "base") in done
    assert ("add_view", "view_a") in done


def test_a_folder_that_breaks_a_table_outside_it_changes_nothing(
    db: StreamTables, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    write(folder, base="SELECT id, a FROM orders", other="SELECT id FROM orders")
    db.apply(db.plan_apply(folder))
    db.create("outside", "SELECT a + 1 AS c FROM base")
    before = db.stream_tables()
    write(folder, base="SELECT id, b FROM orders", other="SELECT id, a FROM orders")
    with pytest.raises(InUseError, match='stream table "outside" would no longer compile'):
        db.plan_apply(folder)
    assert db.stream_tables() == before
    plan = db.plan_apply(folder, prune=True)
    db.apply(plan)
    assert [table.name for table in db.stream_tables()] == ["base", "other"]


def test_a_table_that_the_folder_still_reads_is_not_pruned(
    db: StreamTables, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    write(folder, top="SELECT a FROM base")
    db.create("base", "SELECT id, a FROM orders")
    db.apply(db.plan_apply(folder))
    with pytest.raises(InUseError, match='"base" is read by "top"'):
        db.plan_apply(folder, prune=True)
    assert len(db.stream_tables()) == 2


def test_a_plan_that_fails_halfway_changes_nothing(db: StreamTables, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    write(folder, base="SELECT id, a FROM orders", top="SELECT a FROM base")
    plan = db.plan_apply(folder)
    db.create("top", "SELECT id FROM orders")
    with pytest.raises(AlreadyExistsError):
        db.apply(plan)
    assert [table.name for table in db.stream_tables()] == ["top"]


def test_schedules_and_options_of_a_folder_are_compared_in_their_one_spelling(
    tmp_path: Path,
) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    file = tmp_path / "project" / "t.sql"
    file.parent.mkdir()
    with StreamTables(tmp_path / "warehouse") as db:
        db.add_source("orders", path=orders.path)
        file.write_text(
            "CREATE STREAM TABLE t SCHEDULE 'cron 0 4 * * MON Europe/Berlin' "
            "OPTIONS (sla = '60 min', fuse_rows = 5) AS SELECT id FROM orders"
        )
        db.apply(db.plan_apply(file.parent))
        (table,) = db.stream_tables()
        assert table.schedule == "cron 0 4 * * mon Europe/Berlin"
        assert table.options == {"sla": "1 hour", "fuse_rows": 5}
        assert [item[0] for item in db.plan_apply(file.parent).items] == ["unchanged"]
        file.write_text(
            "CREATE STREAM TABLE t SCHEDULE '90s' OPTIONS (sla = '2 hours') AS SELECT id FROM orders"
        )
        plan = db.plan_apply(file.parent)
        assert plan.items == (
            (
                "alter",
                "t",
                "schedule cron 0 4 * * mon Europe/Berlin → 1 minute 30 seconds, "
                "fuse_rows 5 → none, sla 1 hour → 2 hours",
            ),
        )
        db.apply(plan)
        (table,) = db.stream_tables()
        assert (table.schedule, table.options) == ("1 minute 30 seconds", {"sla": "2 hours"})
        assert [item[0] for item in db.plan_apply(file.parent).items] == ["unchanged"]
        assert db.alter("t", options={"notify": "yes"}).options == {
            "sla": "2 hours",
            "notify": True,
        }
        assert db.alter("t", options={"sla": "none"}).options == {"notify": True}
