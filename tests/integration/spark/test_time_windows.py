"""Groups of time windows are found by their start, so that deltalake commits small changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import refreshed

AT = "window(timestamp_micros(at * 60000000), '10 minutes')"
QUERIES = {
    "shown": f"SELECT window, device, count(*) AS n FROM seen GROUP BY {AT}, device",
    "start and end": f"SELECT window.start AS s, window.end AS e, sum(at) AS n FROM seen GROUP BY {AT}",
    "having": f"SELECT window.end AS e, max(device) AS m FROM seen GROUP BY {AT} HAVING count(*) > 1",
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_small_change_is_committed_by_deltalake(
    db: StreamTables, tmp_path: Path, name: str
) -> None:
    seen = DeltaTableFile(
        tmp_path / "seen",
        {"id": "int", "device": "int", "at": "bigint"},
        [(1, 1, 3), (2, 1, 12), (3, 2, 13), (4, None, 13)],
    )
    db.add_source("seen", path=seen.path, key=["id"])
    db.create("t", QUERIES[name], mode="differential")
    refreshed(db, "t")
    seen.delete("id = 1")
    seen.append((5, 2, 14), (6, 1, 25), (7, 1, 26))
    refreshed(db, "t")
    record = db.history("t")[0]
    assert not [note for note in record.notes if "goes through Spark" in note]
    assert record.steps[-1].name == "apply"
    assert record.steps[-1].facts["hand"] == "deltalake"
    assert db.verify("t").equal
