"""The change feed equals the difference of two versions, however the changes were made."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamtables.engine import arrow_rows, change_feed
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import describe
from streamtables.engine.outcomes import TooLarge
from streamtables.engine.spark_errors import spark_border
from streamtables.errors import HistoryGoneError
from streamtables.positions import Version
from tests.integration.spark.hands import by_spark, head, same_change, signed

pytestmark = pytest.mark.spark

COLUMNS = ["id", "grp", "amount", "m", "st", "Ar"]
KINDS = {
    "plain": ("delta.enableDeletionVectors = false", ""),
    "vectors": ("delta.enableDeletionVectors = true", ""),
    "partitioned": ("delta.enableDeletionVectors = true", "PARTITIONED BY (grp)"),
    "plain-partitioned": ("delta.enableDeletionVectors = false", "PARTITIONED BY (grp)"),
    "mapped": ("delta.columnMapping.mode = 'name'", ""),
}
STATEMENTS = (
    "INSERT INTO {t} SELECT id, concat('g', id % 3), id * 1.5, map('k', CAST(id AS INT)), "
    "struct(CAST(id AS INT), 'x'), array(CAST(id AS INT)) FROM range(60)",
    "UPDATE {t} SET amount = amount + 1 WHERE id IN (1, 2)",
    "DELETE FROM {t} WHERE id IN (3, 50)",
    "OPTIMIZE {t}",
    "MERGE INTO {t} t USING (SELECT id, 'g1' grp, 7 v FROM range(58, 63)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET t.amount = s.v "
    "WHEN NOT MATCHED THEN INSERT (id, grp, amount) VALUES (s.id, s.grp, s.v)",
    "DELETE FROM {t} WHERE id IN (4, 5)",
    "DELETE FROM {t} WHERE grp = 'g2'",
    "INSERT OVERWRITE {t} SELECT * FROM {t} VERSION AS OF 3 WHERE id < 30",
    "DELETE FROM {t} WHERE id < 3",
    "RESTORE {t} TO VERSION AS OF 6",
    "DELETE FROM {t}",
    "INSERT INTO {t} SELECT * FROM {t} VERSION AS OF 3 WHERE id < 10",
    "INSERT INTO {t} SELECT * FROM {t} VERSION AS OF 3 WHERE id < 5",
)


@pytest.fixture
def spark(spark_sessions):
    with spark_sessions.lease("quick") as session:
        yield session


def made(spark, place: str, kind: str) -> list[pa.Table]:
    """Make the table; return its rows at each version."""
    properties, partitioned = KINDS[kind]
    table = f"delta.`{place}`"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, grp STRING, amount DECIMAL(12,2), m MAP<STRING,INT>, "
        f"st STRUCT<a:INT,b:STRING>, Ar ARRAY<INT>) USING delta {partitioned} "
        f"TBLPROPERTIES (delta.enableChangeDataFeed = true, {properties})"
    )
    for statement in STATEMENTS:
        spark.sql(statement.format(t=table))
    return [by_spark(spark, place, version) for version in range(head(place) + 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_feed_is_the_difference_of_two_versions(spark, tmp_path, kind):
    place = str(tmp_path / "t")
    versions = made(spark, place, kind)
    declined = {}
    for after, upto in [(v, v + 1) for v in range(len(versions) - 1)] + [(0, 4), (1, 6)]:
        both = signed((-1, versions[after]), (1, versions[upto]))
        wanted = arrow_rows.net(both, COLUMNS)
        large = change_feed.read_spark(spark, place, Version(after), Version(upto), COLUMNS)
        assert same_change(wanted, for_spark(large.toArrow())), (after, upto)
        small = change_feed.read_small(
            place, Version(after), Version(upto), columns=COLUMNS, limit=1000
        )
        if isinstance(small, TooLarge):
            declined[(after, upto)] = small.reason
        else:
            assert same_change(wanted, small), (after, upto)
    # A RESTORE states the table's metadata anew, so it counts as an alteration.
    declined.pop((9, 10), None)
    if kind.startswith("plain"):
        assert not declined
    elif kind == "mapped":
        assert describe(place).small_hand_refusal is not None
        # Only where nothing changed can there be an answer without reading.
        assert all("olumn mapping" in reason for reason in declined.values()), declined
        assert len(declined) >= 12
    else:
        # A removed file that had a vector: deltalake would give the wrong rows.
        assert all("vector" in reason for reason in declined.values()), declined
        assert 0 < len(declined) < 8


def test_a_large_change_is_left_to_spark_by_the_log_alone(spark, tmp_path):
    place = str(tmp_path / "t")
    made_by = "TBLPROPERTIES (delta.enableChangeDataFeed = true) AS SELECT id FROM range(1000)"
    spark.sql(f"CREATE TABLE delta.`{place}` USING delta {made_by}")
    spark.sql(f"INSERT INTO delta.`{place}` SELECT id FROM range(1000)")
    small = change_feed.read_small(place, Version(0), Version(1), columns=["id"], limit=100)
    assert isinstance(small, TooLarge)
    assert "1000 changed rows" in small.reason


def test_history_that_is_gone_is_said_so(spark, tmp_path):
    place = str(tmp_path / "t")
    spark.sql(f"CREATE TABLE delta.`{place}` (id BIGINT) USING delta")
    for number in range(3):
        spark.sql(f"INSERT INTO delta.`{place}` VALUES ({number})")
    with pytest.raises(HistoryGoneError), spark_border():
        # The feed was never turned on.
        change_feed.read_spark(spark, place, Version(0), Version(2), ["id"]).toArrow()
    (tmp_path / "t" / "_delta_log" / f"{2:020d}.json").unlink()
    with pytest.raises(HistoryGoneError):
        DeltaLog(place).entries(Version(0), Version(3))
