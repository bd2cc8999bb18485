"""A project compared with a warehouse and applied; no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    InUseError,
    NotIncrementalError,
    SourceUnusableError,
    StreamTablesError,
    UnknownNameError,
)
from streamtables.project.plan import ProjectPlan
from streamtables.project.record import place_in, read_record
from tests.support.delta_tables import DeltaTableFile
from tests.unit.project.shop_project import PROJECT, definitions, shop, write


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    with StreamTables(tmp_path / "warehouse" / "dev") as opened:
        yield opened


def planned(db: StreamTables, folder: Path, *, prune: bool = False) -> ProjectPlan:
    return db.plan_project(definitions(folder), prune=prune)


def actions(plan: ProjectPlan) -> list[tuple[str, str]]:
    return [(action, name) for action, name, _ in plan.items]


def applied(db: StreamTables, folder: Path, *, prune: bool = False) -> ProjectPlan:
    return db.apply_project(planned(db, folder, prune=prune))


def test_a_project_is_applied_until_the_warehouse_agrees(db: StreamTables, tmp_path: Path):
    shop(tmp_path, tables__big_dot_py="from streamtables import stream_table\n@stream_table\n"
         "def big():\n    return 'SELECT city FROM revenue WHERE total > 5'\n")  # fmt: skip
    plan = planned(db, tmp_path)
    assert actions(plan) == [("create", "orders"), ("create", "revenue"), ("create", "big")]
    assert "kept by changes" in plan.items[1][2]
    assert (db.sources(), db.stream_tables(), Path(place_in(db.place)).exists()) == ([], [], False)
    db.apply_project(plan)
    again = planned(db, tmp_path)
    assert {action for action, _ in actions(again)} == {"unchanged"}
    assert again.drift == ()


def test_choices_come_from_the_file_the_project_and_the_environment(
    db: StreamTables, tmp_path: Path
):
    shop(
        tmp_path,
        streamtables_dot_toml=PROJECT
        + '[tables."*"]\nschedule = "9 minutes"\nsla = "1 hour"\n[tables.Revenue]\nfuse_rows = 5\n'
        + '[environments.prod.tables.revenue]\nschedule = "1 minute"\n',
        tables__quiet_dot_sql="-- schedule: manual\nSELECT id FROM orders\n",
    )
    chosen = {s.name: s for s in definitions(tmp_path).statements}
    assert chosen["revenue"].schedule == "9 minutes"  # type: ignore[union-attr]
    assert chosen["quiet"].schedule == "manual"  # type: ignore[union-attr]
    assert chosen["revenue"].options == {"sla": "1 hour", "fuse_rows": 5}  # type: ignore[union-attr]
    prod = {s.name: s for s in definitions(tmp_path, "prod").statements}
    assert prod["revenue"].schedule == "1 minute"  # type: ignore[union-attr]
    applied(db, tmp_path)
    assert {t.name: t.schedule for t in db.stream_tables()} == {
        "revenue": "9 minutes",
        "quiet": "manual",
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[tables.revenu]\nschedule = '1 minute'\n", 'table "revenu", which no file defines'),
        ("[tables.revenue]\nschedul = '1 minute'\n", 'unknown key "schedul"'),
    ],
)
def test_choices_for_what_is_not_there_are_refused(tmp_path: Path, more: str, said: str):
    shop(tmp_path, streamtables_dot_toml=PROJECT + more)
    with pytest.raises(ConfigError) as raised:
        definitions(tmp_path)
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT nothing FROM orders", UnknownNameError),
        ("SELECT id FROM nowhere", UnknownNameError),
        ("-- mode: differential\nSELECT rand() AS r FROM orders", NotIncrementalError),
        ("-- mode: sideways\nSELECT id FROM orders", ConfigError),
        ("-- schedule: now and then\nSELECT id FROM orders", ConfigError),
        ("-- key: city\nSELECT id, city FROM orders", ConfigError),
    ],
)
def test_a_wrong_table_is_found_before_anything_is_changed(
    db: StreamTables, tmp_path: Path, sql: str, kind: type[StreamTablesError]
):
    shop(tmp_path, tables__wrong_dot_sql=sql)
    with pytest.raises(kind):
        planned(db, tmp_path)
    assert (db.sources(), db.stream_tables()) == ([], [])


def test_a_key_that_holds_is_accepted(db: StreamTables, tmp_path: Path):
    shop(
        tmp_path,
        tables__cities_dot_sql="-- key: City\nSELECT city, count(*) AS n FROM orders GROUP BY city",
    )
    assert ("create", "cities") in actions(planned(db, tmp_path))


def test_drift_is_told_apart_from_changes_of_the_files(db: StreamTables, tmp_path: Path):
    shop(tmp_path)
    applied(db, tmp_path)
    db.alter("revenue", schedule="5 minutes")
    db.pause("revenue", "while we look")
    db.create("byhand", "SELECT id FROM orders")
    plan = planned(db, tmp_path)
    assert ("alter", "revenue", "schedule 5 minutes → manual") in plan.items
    assert [(d.name, d.text.split(";")[0]) for d in plan.drift] == [
        ("byhand", "is in no file of the project"),
        ("revenue", "schedule was changed by hand: manual → 5 minutes"),
        ("revenue", "is paused (while we look)"),
    ]
    db.apply_project(plan)
    (table,) = [t for t in db.stream_tables() if t.name == "revenue"]
    assert (table.schedule, table.state) == ("manual", "paused")
    write(tmp_path, tables__revenue_dot_sql="-- schedule: 2 minutes\n"
          "SELECT city, sum(amount) AS total FROM orders GROUP BY city\n")  # fmt: skip
    plan = planned(db, tmp_path)
    assert ("alter", "revenue", "schedule manual → 2 minutes") in plan.items
    assert [d.text for d in plan.drift if "by hand" in d.text] == []


def test_what_was_dropped_by_hand_comes_back(db: StreamTables, tmp_path: Path):
    shop(tmp_path)
    applied(db, tmp_path)
    db.drop("revenue")
    db.drop_source("orders")
    plan = applied(db, tmp_path)
    assert actions(plan) == [("create", "orders"), ("create", "revenue")]
    assert len(plan.drift) == 2
    assert [table.name for table in db.stream_tables()] == ["revenue"]


def test_only_prune_drops_and_readers_go_first(db: StreamTables, tmp_path: Path):
    shop(
        tmp_path,
        tables__a_dot_sql="SELECT city FROM revenue",
        tables__z_dot_sql="SELECT city FROM a",
    )
    applied(db, tmp_path)
    for name in ("revenue", "a", "z"):
        (tmp_path / "tables" / f"{name}.sql").unlink()
    plan = planned(db, tmp_path)
    assert actions(plan) == [("unchanged", "orders")]
    assert [d.name for d in plan.drift] == ["a", "revenue", "z"]
    db.apply_project(plan)
    assert len(db.stream_tables()) == 3
    plan = applied(db, tmp_path, prune=True)
    assert actions(plan)[1:] == [("drop", "z"), ("drop", "a"), ("drop", "revenue")]
    assert plan.drift == ()
    assert db.stream_tables() == []


def test_a_table_that_is_still_read_is_not_pruned(db: StreamTables, tmp_path: Path):
    shop(tmp_path, tables__a_dot_sql="SELECT city FROM revenue")
    applied(db, tmp_path)
    (tmp_path / "tables" / "revenue.sql").unlink()
    with pytest.raises(UnknownNameError):
        planned(db, tmp_path, prune=True)
    write(tmp_path, tables__a_dot_sql="SELECT city FROM orders")
    db.add_view("watching", "SELECT city FROM revenue")
    with pytest.raises(InUseError, match="watching"):
        planned(db, tmp_path, prune=True)
    assert len(db.stream_tables()) == 2


def test_a_source_moves_only_while_nothing_reads_it(db: StreamTables, tmp_path: Path):
    shop(tmp_path)
    DeltaTableFile(
        tmp_path / "other", {"id": "bigint", "city": "string", "amount": "bigint"}, [(1, "Ulm", 1)]
    )
    applied(db, tmp_path)
    write(tmp_path, sources__orders_dot_toml='path = "other"\nkey = ["id"]\n')
    plan = planned(db, tmp_path)
    assert ("blocked", "orders") in actions(plan)
    with pytest.raises(InUseError, match="orders"):
        db.apply_project(plan)
    assert db.sources()[0].location == str(tmp_path / "data" / "orders")
    db.drop("revenue")
    plan = applied(db, tmp_path)
    assert actions(plan) == [("alter", "orders"), ("create", "revenue")]
    assert db.sources()[0].location == str(tmp_path / "other")


def test_a_source_at_another_place_than_applied_is_drift(db: StreamTables, tmp_path: Path):
    orders = shop(tmp_path)
    applied(db, tmp_path)
    db.drop("revenue")
    db.drop_source("orders")
    link = tmp_path / "elsewhere"
    DeltaTableFile(link, {"id": "bigint", "city": "string", "amount": "bigint"})
    db.add_source("orders", path=link, key=["id"])
    plan = planned(db, tmp_path)
    assert [(d.kind, d.text) for d in plan.drift if d.name == "orders"] == [
        ("source", f"place was changed by hand: {orders.path} → {link}")
    ]
    assert ("alter", "orders") in actions(plan)


def test_a_source_through_a_link_is_the_same_source(db: StreamTables, tmp_path: Path):
    shop(tmp_path / "real")
    (tmp_path / "seen").symlink_to(tmp_path / "real")
    applied(db, tmp_path / "real")
    plan = planned(db, tmp_path / "seen")
    assert {action for action, _ in actions(plan)} == {"unchanged"}
    assert plan.drift == ()


def test_a_source_that_is_not_there_is_named_with_its_file(db: StreamTables, tmp_path: Path):
    shop(tmp_path, sources__orders_dot_toml='path = "data/nothing"\n')
    with pytest.raises(SourceUnusableError) as raised:
        planned(db, tmp_path)
    assert "sources/orders.toml" in raised.value.detail


def test_what_reads_an_unseen_source_is_left_to_apply(db: StreamTables, tmp_path: Path):
    shop(
        tmp_path,
        sources__customers_dot_toml='postgres = "${env:SHOP_URL}"\ntable = "public.customers"\n',
        tables__names_dot_sql="SELECT name FROM customers",
        tables__more_dot_sql="SELECT name FROM names",
    )
    details = {name: text for _, name, text in planned(db, tmp_path).items}
    assert details["customers"] == "new source: public.customers of ${env:SHOP_URL}"
    assert "not tried" in details["names"]
    assert "not tried" in details["more"]


def test_what_was_done_is_recorded_even_where_a_later_step_fails(
    db: StreamTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SHOP_URL", raising=False)
    shop(tmp_path, sources__zoo_dot_toml='postgres = "${env:SHOP_URL}"\ntable = "public.zoo"\n')
    with pytest.raises(ConfigError, match="SHOP_URL"):
        applied(db, tmp_path)
    record = read_record(db.place)
    assert (record.project, list(record.sources), record.tables) == ("shop", ["orders"], {})
    plan = planned(db, tmp_path)
    assert actions(plan) == [("unchanged", "orders"), ("create", "zoo"), ("create", "revenue")]
    assert plan.drift == ()


def test_a_view_of_the_files_may_stop_reading_what_is_pruned(db: StreamTables, tmp_path: Path):
    shop(tmp_path, tables__v_dot_sql="CREATE VIEW v AS SELECT city FROM revenue")
    applied(db, tmp_path)
    (tmp_path / "tables" / "revenue.sql").unlink()
    write(tmp_path, tables__v_dot_sql="CREATE VIEW v AS SELECT city FROM orders")
    plan = applied(db, tmp_path, prune=True)
    assert actions(plan)[1:] == [("alter", "v"), ("drop", "revenue")]
    assert db.stream_tables() == []


def test_what_needs_a_filled_table_comes_later(db: StreamTables, tmp_path: Path):
    shop(
        tmp_path,
        tables__lucky_dot_sql="SELECT id, rand() AS r FROM orders",
        tables__few_dot_sql="SELECT id FROM lucky WHERE r < 0.5",
        tables__fewer_dot_sql="SELECT id FROM few",
    )
    plan = applied(db, tmp_path)
    assert {name for action, name in actions(plan) if action == "later"} == {"few", "fewer"}
    assert sorted(table.name for table in db.stream_tables()) == ["lucky", "revenue"]
    assert [d for d in planned(db, tmp_path).drift] == []


def test_a_warehouse_belongs_to_one_environment(db: StreamTables, tmp_path: Path):
    shop(tmp_path)
    applied(db, tmp_path)
    with pytest.raises(ConfigError, match='environment "dev" of project "shop"'):
        db.plan_project(definitions(tmp_path, "prod"))
    Path(place_in(db.place)).write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot read"):
        planned(db, tmp_path)


def test_one_name_has_one_definition(tmp_path: Path):
    shop(tmp_path, tables__again_dot_sql="-- name: Revenue\nSELECT 1 AS x")
    with pytest.raises(AlreadyExistsError, match="revenue"):
        definitions(tmp_path)
    (tmp_path / "tables" / "again.sql").write_text("-- name: orders\nSELECT 1 AS x")
    with pytest.raises(AlreadyExistsError, match="orders"):
        definitions(tmp_path)
