"""CHAR columns: Spark compares them with blanks, so only Spark's own reading of a table is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import UnimplementedSqlError, UnsupportedSqlError
from tests.support.spark_oracle import refreshed

pytestmark = pytest.mark.spark


def test_tables_with_char_columns_are_kept_by_full_with_the_reason(
    db: StreamTables, spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    with spark_sessions.lease("quick") as spark:
        codes = _codes(db, spark, tmp_path)
        with pytest.raises(UnimplementedSqlError, match='CHAR column "p" of "codes"'):
            db.create("refused", "SELECT id FROM codes WHERE p = 'q'", mode="differential")
        with pytest.raises(UnsupportedSqlError, match='"p" of the result is CHAR'):
            db.create("refused", "SELECT * FROM codes", mode="full")
        db.create("chosen", "SELECT id, CAST(p AS STRING) AS p FROM codes WHERE p = 'q'")
        db.create("paired", "SELECT a.id, b.id AS other FROM codes a JOIN codes b ON a.p = b.r")
        # What a table shows is plain text, blanks included.
        db.create("again", "SELECT id FROM chosen WHERE p = 'q  '", mode="differential")
        db.create("others", "SELECT id, s FROM codes WHERE s = 'q'", mode="differential")
        names = ("chosen", "paired", "again", "others")
        for name in names:
            refreshed(db, name)
        assert [row.id for row in db.read("again").orderBy("id").collect()] == [1, 3]
        spark.sql(f"INSERT INTO {codes} VALUES (4, 'q', 'q', 'q'), (5, 'q ', 'z', 'q ')")
        spark.sql(f"UPDATE {codes} SET p = 'z' WHERE id = 3")
        done = {name: refreshed(db, name) for name in names}
    assert [row.id for row in db.read("again").orderBy("id").collect()] == [1, 4, 5]
    assert {name: item.mode for name, item in done.items()} == {
        "chosen": "full",
        "paired": "full",
        "again": "differential",
        "others": "differential",
    }
    assert done["chosen"].reason.code == "not-incremental"
    assert 'compares "p" of "codes" with blanks' in done["chosen"].reason.text


def _codes(db: StreamTables, spark: Any, folder: Path) -> str:
    table = f"delta.`{folder / 'codes'}`"
    spark.sql(
        f"CREATE TABLE {table} (id INT, p CHAR(3), r CHAR(5), s STRING) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(
        f"INSERT INTO {table} VALUES (1, 'q', 'q', 'q'), (2, 'r', 'q', 'r'), (3, 'q', 'z', 's')"
    )
    db.add_source("codes", path=folder / "codes", key="id")
    return table
