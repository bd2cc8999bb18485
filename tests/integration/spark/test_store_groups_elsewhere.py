"""Stored groups under everything else that is done with stream tables."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import StreamTables
from tests.integration.spark.test_store_groups import following, internal, verified


def test_a_snapshot_is_put_back_and_leads_on(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    db.snapshot("best", label="before")
    rows = db.read("best").collect()
    for number in range(2):
        shop.change()
        shop.orders.append((990 + number, 3, "5000.00", "a"))
        verified(db, "best")
    assert db.read("best").collect() != rows
    db.restore_snapshot("before")
    assert db.read("best").collect() == rows
    shop.change()
    assert verified(db, "best").mode != "full"


def test_other_modes_have_nothing_stored_apart(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    [kept] = internal(db)
    db.alter("best", mode="full")
    assert internal(db) == []
    assert not Path(kept.location).exists()
    shop.change()
    assert verified(db, "best").mode == "full"
    db.alter("best", mode="auto")
    assert len(internal(db)) == 1
    verified(db, "best")
    shop.change()
    assert verified(db, "best").mode != "full"


def test_a_table_is_built_anew_with_its_groups_and_tidied_up(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    assert db.repair("best", way="table").mode == "full"
    shop.change()
    assert verified(db, "best").mode != "full"
    assert [done for done in db.maintain() if done.error is not None] == []
    assert [item for item in db.health_check() if item.severity == "error"] == []


def test_a_table_that_reads_one_over_stored_groups_follows_too(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    db.create("readers", "SELECT count(*) AS n, max(total) AS most FROM best")
    verified(db, "readers")
    shop.orders.append((950, 4, "9000.00", "b"))
    assert verified(db, "readers").mode == "differential"
    assert [table.name for table in db.drop("best", cascade=True)] == ["readers", "best"]
    assert internal(db) == []
