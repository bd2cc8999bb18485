"""The bare Delta floor: one hand-written MERGE of the same result rows into a copy.

    default   Spark's and Delta's own settings
    tuned     AQE off, few shuffle partitions, a small snapshot, no materialised merge source

The rows are those by which the stream table itself changed; they are ready in a local relation
before the clock starts.  Each copy has a session of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.change_feed import read_small
from streamtables.positions import Version

TUNED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.databricks.delta.allFilesInCrc.verificationMode.forceOnNonUTC.enabled": "false",
}
WEIGHT = "__st_weight"


def session(spark: SparkSession, *, tuned: bool) -> SparkSession:
    """Return a session of its own on the same Spark."""
    own = spark.newSession()
    for name, value in TUNED.items() if tuned else ():
        own.conf.set(name, value)
    return own


def result_change(
    location: str, since: int, upto: int, columns: list[str], key: tuple[str, ...]
) -> pa.Table:
    """Return the rows by which a stream table changed, one for each key, with `gone` beside."""
    signed = read_small(location, Version(since), Version(upto), columns=columns, limit=1_000_000)
    if not isinstance(signed, pa.Table):
        raise RuntimeError(f"the change of the result cannot be read: {signed.reason}")
    signed = for_spark(signed)
    appears = pc.greater(signed.column(WEIGHT), 0)
    kept = signed.filter(appears).drop_columns([WEIGHT])
    gone = signed.filter(pc.invert(appears)).drop_columns([WEIGHT])
    gone = gone.join(kept.select(list(key)), keys=list(key), join_type="left anti")
    return pa.concat_tables([_marked(kept, False), _marked(gone.select(kept.column_names), True)])


def _marked(rows: pa.Table, gone: bool) -> pa.Table:
    return rows.append_column("gone", pa.array([gone] * rows.num_rows, pa.bool_()))


@dataclass(frozen=True)
class Copy:
    """A copy of a stream table, and the session that merges into it."""

    spark: SparkSession
    location: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def make(self, original: str) -> None:
        """Write the rows of the stream table once more, with the change feed on as it has."""
        spark = self.spark
        rows = spark.read.format("delta").load(original)
        writer = rows.write.format("delta").option("delta.enableChangeDataFeed", "true")
        writer.save(self.location)

    def hold(self, rows: pa.Table) -> None:
        """Have the rows of the next merge at hand."""
        self.spark.createDataFrame(rows).createOrReplaceTempView("result_change")

    def merge(self) -> None:
        """Merge the rows at hand."""
        match = " AND ".join(f"t.`{name}` <=> s.`{name}`" for name in self.key)
        assigned = ", ".join(f"t.`{name}` = s.`{name}`" for name in self.columns)
        names = ", ".join(f"`{name}`" for name in self.columns)
        values = ", ".join(f"s.`{name}`" for name in self.columns)
        self.spark.sql(
            f"MERGE INTO delta.`{self.location}` t USING result_change s ON {match} "
            "WHEN MATCHED AND s.gone THEN DELETE "
            f"WHEN MATCHED THEN UPDATE SET {assigned} "
            f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
        )
