"""A refresh that tells other columns than were known: readers are defined anew; no Spark needed."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import StreamTables
from streamtables.catalog.models import Column
from streamtables.errors import UnknownNameError
from streamtables.refresh.altering.learned import carry_learned
from streamtables.refresh.round import Round
from tests.support.delta_tables import DeltaTableFile


def test_readers_follow_columns_that_spark_told(tmp_path: Path) -> None:
    orders = DeltaTableFile(tmp_path / "orders", {"id": "bigint", "a": "int"}, [(1, 1)])
    with StreamTables(tmp_path / "w") as db:
        db.add_source("orders", path=orders.path, key=["id"])
        base = db.create("base", "SELECT id, rand() AS r FROM orders")
        told = (Column("id", "bigint"), Column("r", "double"))
        made_by = base.defining_query_hash
        base = db._catalog.learn_columns(base.id, told, query_hash=made_by)
        db.create("star", "SELECT * FROM base")
        db.create("ids", "SELECT id FROM base")
        db.create("needy", "SELECT r + 1 AS s FROM base")
        assert not carry_learned(base, db._around)
        other = (Column("id", "bigint"), Column("q", "double"))
        db._catalog.learn_columns(base.id, other, query_hash="of another query")
        assert not carry_learned(base, db._around)
        db._catalog.learn_columns(base.id, other, query_hash=made_by)
        assert carry_learned(base, db._around)
        found = {table.name: table for table in db.stream_tables()}
        assert [column.name for column in found["star"].columns] == ["id", "q"]
        assert found["star"].state == "needs-rebuild"
        assert (found["ids"].state, found["needy"].state) == ("active", "active")
        snapshot = db._catalog.snapshot()
        [result] = Round(db._around, snapshot, (found["needy"],)).run()
        assert result.outcome == "failed"
        assert isinstance(result.error, UnknownNameError)
