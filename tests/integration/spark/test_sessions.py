"""Sessions: forks that do not see each other, a pool, and who may stop Spark."""

from __future__ import annotations

from threading import Event, Thread

import pyarrow as pa
import pytest

from streamtables.engine import binding, describe
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_start import SparkSettings
from streamtables.errors import EnvironmentFaultError, SourceMissingError, StreamTablesError
from streamtables.positions import Version

pytestmark = pytest.mark.spark


def test_nothing_starts_before_the_first_use(tmp_path):
    assert not SparkSessions(SparkSettings(jars_dir=tmp_path)).started


def test_missing_jars_are_said_so(tmp_path):
    from streamtables.engine import jars

    with pytest.raises(EnvironmentFaultError) as failure:
        jars.usable(tmp_path)
    assert "doctor --fix" in failure.value.hint


def test_profiles_differ_and_ansi_is_on(spark_sessions):
    with spark_sessions.lease("quick") as quick, spark_sessions.lease("bulk") as bulk:
        assert quick.conf.get("spark.sql.adaptive.enabled") == "false"
        assert bulk.conf.get("spark.sql.adaptive.enabled") == "true"
        for session in (quick, bulk):
            assert session.conf.get("spark.sql.ansi.enabled") == "true"
            assert session.conf.get("spark.sql.session.timeZone") == "UTC"


def test_python_functions_run_in_this_python(spark_sessions):
    import sys

    from pyspark.sql.functions import udf

    def interpreter(_: int) -> str:
        import sys

        return sys.prefix

    rows = spark_sessions.get().range(1).select(udf(interpreter, "string", useArrow=False)("id"))
    assert rows.collect()[0][0] == sys.prefix


def test_a_lease_comes_back_without_its_views(spark_sessions):
    with spark_sessions.lease("quick") as first:
        binding.bind(first, "changes", pa.table({"a": [1]}))
        assert first.sql("SELECT a FROM changes").collect()[0]["a"] == 1
        with spark_sessions.lease("quick") as second:
            assert second is not first
            assert not second.catalog.tableExists("changes")
    with spark_sessions.lease("quick") as again, spark_sessions.lease("quick") as other:
        assert first in (again, other)
        assert not first.catalog.tableExists("changes")


def test_settings_of_the_caller_reach_the_forks(spark_sessions):
    caller = spark_sessions.get().newSession()
    caller.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    sessions = SparkSessions(spark=caller)
    with sessions.lease("quick") as session:
        assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    sessions.stop()
    assert caller.range(1).toArrow().num_rows == 1


def test_a_view_shows_one_version(spark_sessions, tmp_path):
    place = str(tmp_path / "t")
    with spark_sessions.lease("quick") as spark:
        spark.range(3).write.format("delta").save(place)
        spark.range(3).write.format("delta").mode("append").save(place)
        binding.after_view(spark, "before", place, Version(0))
        assert spark.sql("SELECT id FROM before").toArrow().num_rows == 3


def test_timestamps_without_zone_stay_without_zone(spark_sessions):
    table = pa.table(
        {"n": pa.array([0], pa.timestamp("us")), "z": pa.array([0], pa.timestamp("us", "UTC"))}
    )
    with spark_sessions.lease("quick") as spark:
        rows = binding.bind(spark, "t", table)
        assert [f.dataType.simpleString() for f in rows.schema] == ["timestamp_ntz", "timestamp"]
        assert rows.toArrow().cast(table.schema).equals(table)


def test_a_table_is_described_without_spark(spark_sessions, tmp_path):
    place = str(tmp_path / "t")
    with spark_sessions.lease("quick") as spark:
        spark.sql(
            f"CREATE TABLE delta.`{place}` (id BIGINT NOT NULL, d DECIMAL(12,2), s STRUCT<a:INT>, "
            "m MAP<STRING,ARRAY<DOUBLE>>, t TIMESTAMP_NTZ, p STRING) USING delta PARTITIONED BY (p)"
        )
        spark.sql(
            f"INSERT INTO delta.`{place}` SELECT id, 1, struct(1), map(), NULL, 'x' FROM range(5)"
        )
    seen = describe.describe(place)
    assert [(c.name, c.type) for c in seen.columns] == [
        ("id", "bigint"),
        ("d", "decimal(12,2)"),
        ("s", "struct<a:int>"),
        ("m", "map<string,array<double>>"),
        ("t", "timestamp_ntz"),
        ("p", "string"),
    ]
    assert not seen.columns[0].nullable
    assert (seen.version, seen.rows, seen.partition_columns) == (1, 5, ("p",))
    assert not seen.change_feed_on
    assert seen.small_hand_refusal is None
    describe.enable_change_feed(place)
    assert describe.describe(place).change_feed_on
    with spark_sessions.lease("quick") as spark:
        spark.sql(f"INSERT INTO delta.`{place}` SELECT 9, 1, struct(1), map(), NULL, 'y'")
        feed = spark.read.format("delta").option("readChangeFeed", "true")
        assert feed.option("startingVersion", 3).load(place).toArrow().num_rows == 1
    by_spark = describe._by_spark(place, spark_sessions, reason="asked")
    assert by_spark.columns == describe.describe(place).columns
    with pytest.raises(SourceMissingError):
        describe.describe(str(tmp_path / "none"))


def test_work_is_cancelled_where_spark_has_forgotten_the_tags_of_its_session(
    spark_sessions, monkeypatch
):
    """As after a statement that Delta ran inside another: Spark then finds nothing to stop."""
    done = Event()

    def cancel_until_done() -> None:
        while not done.wait(0.5):
            spark_sessions.cancel("forgotten")

    with spark_sessions.lease("bulk", tag="forgotten") as spark:
        monkeypatch.setattr(type(spark), "interruptAll", lambda _: [])
        Thread(target=cancel_until_done, daemon=True).start()
        try:
            with pytest.raises(StreamTablesError), spark_border():
                spark.range(3_000_000_000).selectExpr("sum(id % 7)").collect()
        finally:
            done.set()
