"""A folder of SQL files as a project: created, left alone, altered, pruned; no Spark needed."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import StreamTables
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
