"""Append of a signed change that takes nothing away, for changes too large for the driver.

No stored row is read, so the cost is that of the rows that come.  A row that goes after all, or a
key that comes twice, raises inside the written query, before any commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtables.engine.names import WEIGHT, without_ordinals
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.spark_errors import DUPLICATE_KEY, ROW_NOT_STORED, spark_border
from streamtables.engine.spark_hand import append
from streamtables.engine.spark_image import image, net
from streamtables.engine.sql_text import identifier, text_literal
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def append_signed(
    spark: SparkSession,
    signed: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...] | None,
    version: Version,
    netted: bool = False,
) -> Applied | Superseded:
    """Add the rows of a signed change of which none goes; see `merge_signed` for the arguments."""
    with spark_border():
        stored = spark.read.format("delta").option("versionAsOf", int(version)).load(location)
        columns = without_ordinals(stored.columns)
        rows = signed.select(*map(identifier, columns), WEIGHT)
        rows = rows if netted else net(rows, columns)
        if key_columns is not None:
            rows = _one_per_key(rows, stored.schema, key_columns)
    return append(spark, rows, location, stamp, key_columns=key_columns, known=version)


def _one_per_key(rows: DataFrame, schema: StructType, key_columns: tuple[str, ...]) -> DataFrame:
    """Return the rows, each the only one of its key."""
    from pyspark.sql import functions as f

    keys = [
        f.expr(image(identifier(name), schema[name].dataType)).alias(f"__st_key_{i}")
        for i, name in enumerate(key_columns)
    ]
    folded = rows.groupBy(*keys).agg(
        f.first(f.struct(*map(identifier, schema.names))).alias("__st_row"),
        f.min(WEIGHT).alias("__st_least"),
        f.sum(WEIGHT).alias(WEIGHT),
    )
    checked = (
        f"CASE WHEN __st_least < 0 THEN {_raise(ROW_NOT_STORED)}"
        f" WHEN {WEIGHT} > 1 THEN {_raise(DUPLICATE_KEY)} ELSE {WEIGHT} END"
    )
    return folded.select("__st_row.*", f.expr(f"CAST({checked} AS BIGINT)").alias(WEIGHT))


def _raise(message: str) -> str:
    return f"raise_error({text_literal(message)})"
