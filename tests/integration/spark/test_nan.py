"""NaN in a table that deltalake wrote: Spark's readers find it by any comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from tests.support.spark_oracle import refreshed

pytestmark = pytest.mark.spark


def test_a_reader_of_a_stream_table_finds_nan_by_a_comparison(
    db: StreamTables, tmp_path: Path
) -> None:
    place = tmp_path / "numbers"
    db.spark.sql(
        f"CREATE TABLE delta.`{place}` USING delta "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS SELECT 1 AS k, 1.0D AS x"
    )
    db.add_source("numbers", path=place, key=["k"])
    db.create("copied", "SELECT k, x FROM numbers", mode="differential")
    db.create("large", "SELECT k FROM copied WHERE x > 5", mode="differential")
    db.refresh_all()
    db.spark.sql(f"INSERT INTO delta.`{place}` VALUES (2, double('NaN')), (3, 2.0D)")
    for name in ("copied", "large"):
        refreshed(db, name)
    assert [row.k for row in db.read("large").collect()] == [2]
    found = db.read("copied").where("x > 5 OR x = double('NaN')").collect()
    assert [row.k for row in found] == [2]
