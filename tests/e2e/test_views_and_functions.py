"""Views and functions in a warehouse: defined, replaced, refused, dropped; no Spark needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    CycleError,
    InUseError,
    NameNotAllowedError,
    NotFoundError,
    NotIncrementalError,
    UnknownNameError,
)
from tests.support.delta_tables import DeltaTableFile


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint", "a": "int"}, [(1, 1)])
    with StreamTables(tmp_path / "warehouse") as opened:
        opened.add_source("orders", path=orders.path)
        yield opened


def test_a_table_over_views_reads_their_tables(db: StreamTables):
    db.sql("CREATE VIEW big AS SELECT id, a FROM orders WHERE a > 1")
    db.sql("CREATE VIEW per (value, n) AS SELECT a, count(*) FROM big GROUP BY a -- end")
    table = db.create("t", "SELECT value, n FROM per")
    assert [item.id for item in table.inputs] == [db.sources()[0].id]
    assert [(column.name, column.type) for column in table.columns] == [
        ("value", "int"),
        ("n", "bigint"),
    ]
    assert db.explain("t").data["tables"] == ["orders"]
    assert db.validate("SELECT n FROM per").data["incremental"] is True


def test_a_bad_view_or_function_changes_nothing(db: StreamTables):
    with pytest.raises(UnknownNameError) as caught:
        db.sql("CREATE VIEW v AS SELECT nope FROM orders")
    assert caught.value.place
    with pytest.raises(UnknownNameError):
        db.add_function("f", parameters={"x": "int"}, returns="int", body="y")
    with pytest.raises(ConfigError):
        db.add_function("f", parameters={"x": "wrong"}, returns="int", body="x")
    assert (db.views(), db.functions()) == ([], [])


def test_a_replaced_view_changes_the_hash_of_all_that_read_it(db: StreamTables):
    db.add_view("inner_view", "SELECT id, a FROM orders")
    db.add_view("outer_view", "SELECT id, a AS b FROM inner_view")
    first = db.create("t", "SELECT id, b FROM outer_view")
    plain = db.create("u", "SELECT id FROM orders")
    db.sql("CREATE OR REPLACE VIEW inner_view AS SELECT id, CAST(a + 1 AS BIGINT) AS a FROM orders")
    second, still = (next(x for x in db.stream_tables() if x.name == name) for name in "tu")
    assert second.defining_query_hash != first.defining_query_hash
    assert (second.state, second.state_reason) == ("needs-rebuild", "the query changed")
    assert [column.type for column in second.columns] == ["bigint", "bigint"]
    assert still.defining_query_hash == plain.defining_query_hash
    assert still.state == "active"


def test_a_view_is_not_replaced_by_one_that_its_readers_cannot_read(db: StreamTables):
    db.add_view("v", "SELECT id, a FROM orders")
    db.create("t", "SELECT id, a FROM v", mode="differential")
    before = db.stream_tables()
    with pytest.raises(InUseError, match='stream table "t" would no longer compile') as caught:
        db.add_view("v", "SELECT id FROM orders", replace=True)
    assert 'no column "a"' in caught.value.detail
    with pytest.raises(InUseError, match='"t"') as caught:
        db.add_view("v", "SELECT id, a FROM orders WHERE rand() > 0", replace=True)
    assert NotIncrementalError.code in caught.value.detail
    assert db.stream_tables() == before
    assert db.views()[0].query == "SELECT id, a FROM orders"


def test_readers_of_readers_are_asked_too(db: StreamTables):
    db.add_view("v", "SELECT id, a FROM orders")
    db.create("t", "SELECT * FROM v")
    db.create("on_t", "SELECT a FROM t")
    with pytest.raises(InUseError, match='"on_t" would no longer compile'):
        db.add_view("v", "SELECT id FROM orders", replace=True)


def test_a_cycle_of_views_is_refused(db: StreamTables):
    db.add_view("v", "SELECT id FROM orders")
    db.add_view("w", "SELECT id FROM v")
    db.create("t", "SELECT id FROM w")
    for query in ("SELECT id FROM w", "SELECT id FROM v"):
        with pytest.raises(CycleError):
            db.add_view("v", query, replace=True)
    with pytest.raises((CycleError, InUseError)):
        db.add_view("v", "SELECT id FROM t", replace=True)


def test_what_is_used_cannot_be_dropped(db: StreamTables):
    db.sql("CREATE FUNCTION plus(x INT) RETURNS INT RETURN x + 1")
    db.sql("CREATE FUNCTION plus_two(x INT) RETURNS INT RETURN plus(plus(x))")
    db.sql("CREATE VIEW v AS SELECT id, plus_two(a) AS a FROM orders")
    db.create("t", "SELECT a FROM v")
    with pytest.raises(InUseError, match='stream table "t"'):
        db.sql("DROP VIEW v")
    with pytest.raises(InUseError, match='stream table "t", view "v", function "plus_two"'):
        db.sql("DROP FUNCTION plus")
    with pytest.raises(InUseError):
        db.drop_source("orders")
    db.drop("t")
    with pytest.raises(InUseError, match='"v"'):
        db.drop_source("orders")
    db.sql("DROP VIEW v")
    db.sql("DROP FUNCTION plus_two")
    db.sql("DROP FUNCTION plus")
    db.drop_source("orders")
    assert (db.views(), db.functions()) == ([], [])


def test_a_stream_table_that_a_view_reads_stays(db: StreamTables):
    db.create("t", "SELECT id FROM orders")
    db.add_view("v", "SELECT id FROM t")
    with pytest.raises(InUseError, match='"v"'):
        db.drop("t", cascade=True)
    db.drop_view("v")
    db.drop("t")


def test_names_are_shared_by_tables_and_views_and_not_by_functions(db: StreamTables):
    db.add_view("v", "SELECT id FROM orders")
    for name in ("V", "orders"):
        with pytest.raises(AlreadyExistsError):
            db.add_view(name, "SELECT id FROM orders")
        with pytest.raises(AlreadyExistsError):
            db.create(name, "SELECT id FROM orders")
    db.add_function("v", parameters={"x": "int"}, returns="int", body="x")
    for name in ("upper", "a.b", "__st_f", "sum"):
        with pytest.raises(NameNotAllowedError):
            db.add_function(name, parameters={"x": "int"}, returns="int", body="x")
    assert db.drop_view("nothing", if_exists=True) is None
    with pytest.raises(NotFoundError):
        db.drop_view("nothing")


def test_a_registered_function_is_known_to_every_process(db: StreamTables, tmp_path: Path):
    db.register_function("size_of", len, "int")
    db.create("t", "SELECT id, size_of(CAST(id AS STRING)) AS n FROM orders")
    generation = db._catalog.generation()
    db.register_function("size_of", len, "int")
    assert db._catalog.generation() == generation
    with StreamTables(tmp_path / "warehouse") as other:
        assert other.explain("t").data["incremental"] is True
        before = other.stream_tables()[0].defining_query_hash
        other.register_function("size_of", len, "bigint")
        assert other.stream_tables()[0].defining_query_hash != before
    with pytest.raises(ConfigError):
        db.register_function("other", len)
    with pytest.raises(AlreadyExistsError):
        db.add_function("size_of", parameters={}, returns="int", body="1", replace=True)
    db.register_function("dice", len, "int", deterministic=False)
    with pytest.raises(NotIncrementalError):
        db.create("u", "SELECT dice(a) AS d FROM orders", mode="differential")


def test_a_folder_may_hold_views_and_functions(db: StreamTables, tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "1.sql").write_text("CREATE STREAM TABLE top AS SELECT b FROM v")
    (folder / "2.sql").write_text("CREATE VIEW v AS SELECT plus(a) AS b FROM orders;")
    function = folder / "3.sql"
    function.write_text("CREATE FUNCTION plus(x INT) RETURNS INT RETURN x + 1;")
    plan = db.apply(db.plan_apply(folder))
    assert [item[:2] for item in plan.items] == [
        ("create", "plus"),
        ("create", "v"),
        ("create", "top"),
    ]
    assert {item[0] for item in db.plan_apply(folder).items} == {"unchanged"}
    function.write_text("CREATE FUNCTION plus(x INT) RETURNS INT RETURN x + 2;")
    plan = db.apply(db.plan_apply(folder, prune=True))
    assert [item[0] for item in plan.items] == ["alter", "unchanged", "unchanged"]
    assert db.stream_tables()[0].state == "needs-rebuild"
