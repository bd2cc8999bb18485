"""Times far from now in tables that Spark wrote as it does by default: rows stay what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions

KIND = "spark.sql.parquet.outputTimestampType"
QUERIES = {
    "bag": "SELECT u, ts, n FROM e",
    "keyed": "SELECT id, u, ts, n FROM k",
    "joined": "SELECT e.id, k.ts, k.u FROM e JOIN k ON e.id = k.id",
    "groups": "SELECT ts, count(*) AS c FROM k GROUP BY ts",
    "latest": "SELECT u, max(ts) AS m, max_by(id, ts) AS i FROM k GROUP BY u",
    "valid": "SELECT count(*) AS c FROM k WHERE ts > TIMESTAMP'2300-01-01 00:00:00'",
    "nested": "SELECT id, struct(ts) AS s, array(ts) AS a FROM k",
}
ROWS = """VALUES
    (1, 'c', TIMESTAMP'9999-12-31 00:00:00', TIMESTAMP_NTZ'9999-12-31 00:00:00'),
    (2, 'b', TIMESTAMP'2026-01-01 00:00:00', CAST(NULL AS TIMESTAMP_NTZ)),
    (3, 'd', TIMESTAMP'1500-01-01 00:00:00', TIMESTAMP_NTZ'1500-01-01 00:00:00')"""
CHANGES = (
    ("UPDATE {e} SET u = 'cc' WHERE id = 1", "UPDATE {k} SET u = 'cc' WHERE id = 1"),
    ("INSERT INTO {e} VALUES (5, 'b', TIMESTAMP'2027-01-01 00:00:00', NULL)",),
    ("DELETE FROM {e} WHERE id = 1", "INSERT INTO {k} SELECT 4, u, ts, n FROM {k} WHERE id = 1"),
    ("DELETE FROM {k} WHERE id IN (2, 3)", "INSERT INTO {e} SELECT 6, 'q', ts, n FROM {k}"),
)


def test_rows_with_far_times_are_followed_and_left_as_they_are(
    db: StreamTables, spark_sessions: SparkSessions, tmp_path: Path
):
    spark = spark_sessions.get()
    if spark.conf.get(KIND, "INT96") != "INT96":
        pytest.fail("sources are to be written as Spark writes them by default")
    places = {name: f"delta.`{tmp_path / name}`" for name in "ek"}
    for place in places.values():
        columns = "id INT, u STRING, ts TIMESTAMP, n TIMESTAMP_NTZ"
        feed = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
        spark.sql(f"CREATE TABLE {place} ({columns}) USING delta {feed}")
        spark.sql(f"INSERT INTO {place} {ROWS}")
    db.add_source("e", path=tmp_path / "e")
    db.add_source("k", path=tmp_path / "k", key="id")
    for name, query in QUERIES.items():
        db.create(name, query, mode="differential")
    db.refresh_all()
    for number, statements in enumerate(CHANGES):
        for statement in statements:
            spark.sql(statement.format(**places))
        for found in db.refresh_all():
            assert found.outcome in ("applied", "no-change"), (number, found.table, found.error)
            assert found.mode != "full", (number, found.table, found.reason)
        for name in QUERIES:
            compared = db.verify(name)
            assert compared.equal, (number, name, compared.sample)
    assert forms(tmp_path / "k") == {"INT96"}


def test_our_own_tables_have_times_that_deltalake_reads(db: StreamTables, tmp_path: Path):
    spark = db.spark
    place = f"delta.`{tmp_path / 'k'}`"
    feed = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    spark.sql(f"CREATE TABLE {place} (id INT, ts TIMESTAMP) USING delta {feed}")
    spark.sql(f"INSERT INTO {place} VALUES (1, TIMESTAMP'9999-12-31 00:00:00')")
    db.add_source("k", path=tmp_path / "k", key="id")
    table = db.create("latest", "SELECT id, ts FROM k")
    db.refresh("latest")
    assert forms(Path(table.location)) == {"INT64"}


def forms(folder: Path) -> set[str]:
    """Return how the times in a table's files are written."""
    found = set()
    for path in folder.glob("*.parquet"):
        schema = parquet.ParquetFile(path).schema
        leaves = [schema.column(at) for at in range(len(schema))]
        found |= {leaf.physical_type for leaf in leaves if leaf.path == "ts"}
    return found
