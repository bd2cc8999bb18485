"""A warehouse that is backed up, lost, restored and refreshed on."""

from __future__ import annotations

import shutil
from pathlib import Path

from streamtables.api import connect
from streamtables.backing_up import restore
from streamtables.engine.session import SparkSessions
from tests.support.delta_tables import DeltaTableFile


def test_a_restored_warehouse_is_refreshed_on(
    tmp_path: Path, spark_sessions: SparkSessions
) -> None:
    spark = spark_sessions.get()
    orders = DeltaTableFile(
        tmp_path / "orders", {"id": "bigint", "n": "bigint"}, [(1, 10), (2, 20)]
    )
    with connect(tmp_path / "w", spark=spark) as db:
        db.add_source("orders", path=tmp_path / "orders")
        db.create("big", "SELECT id, n FROM orders WHERE n > 5", mode="differential")
        db.create("total", "SELECT sum(n) AS n FROM big", mode="differential")
        db.refresh_all()
        db.backup(tmp_path / "b", with_tables=True)
        orders.append((3, 30))
        db.refresh_all()
    into = tmp_path / "restored"
    assert {item.how for item in restore(tmp_path / "b", into)} == {"equal"}
    with connect(into, spark=spark) as db:
        done = {item.table: (item.mode, item.outcome) for item in db.refresh_all()}
        assert done == {name: ("differential", "applied") for name in ("big", "total")}
        assert all(db.verify(name).equal for name in ("big", "total"))
        assert db.read_rows("total").to_pylist() == [{"n": 60}]
        place = Path(db._catalog.stream_table("big").location)
    # One table is lost: it is filled, and who read it is rebuilt.
    with connect(into, spark=spark) as db:
        db.backup(tmp_path / "later")
    shutil.rmtree(place)
    how = {item.table: item.how for item in restore(tmp_path / "later", into, force=True)}
    assert how == {"big": "missing", "total": "equal"}
    with connect(into, spark=spark) as db:
        assert [item.outcome for item in db.refresh_all()] == ["applied", "applied"]
        assert all(db.verify(name).equal for name in ("big", "total"))
        assert [f for f in db.health_check() if f.severity == "error" and f.code != "disk"] == []
