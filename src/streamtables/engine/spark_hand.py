"""The Spark hand: any size, one Delta commit per call.

    overwrite      all rows anew: the first fill, and FULL
    append         only rows that appear
    replace_keys   a bounded list of keys: what a predicate covers is netted with the change and
                   written back, in one pass
    replace_where  the rows that belong where a predicate is true, as the caller computed them

MERGE is in `spark_merge`.  A change that contradicts what is stored fails inside the written
query, before any commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamtables.engine.key_predicate import key_predicate
from streamtables.engine.names import POSITION, SEQUENCE, WEIGHT
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.spark_commit import Attempt, stamped
from streamtables.engine.spark_errors import ROW_NOT_STORED, spark_border
from streamtables.engine.spark_image import net
from streamtables.engine.sql_text import identifier, text_literal
from streamtables.engine.table_properties import creation_properties, statistics_of
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def overwrite(
    spark: SparkSession,
    rows: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...] | None,
    properties: Mapping[str, str] | None = None,
    known: Version | None = None,
) -> Applied | Superseded:
    """Replace all rows; make the table when it is not there."""
    attempt = Attempt.begin(location, stamp, known)
    with spark_border():
        written = _expanded(rows, stamp, bag=key_columns is None)
        wanted = {**creation_properties(written.schema, key_columns), **(properties or {})}
        writer = stamped(written, stamp).mode("overwrite").option("overwriteSchema", "true")
        if attempt.before is None:
            # Delta takes these options as table properties when the write makes the table.
            writer.options(**wanted).save(location)
        else:
            with statistics_of(spark, location, written.schema, wanted):
                writer.save(location)
    return attempt.confirm("overwrite")


def append(
    spark: SparkSession,
    rows: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...] | None,
    known: Version | None = None,
    new_columns: bool = False,
) -> Applied | Superseded:
    """Add rows; with `__st_weight`, each row that many times.

    With `new_columns` the table takes over those that it does not have yet.
    """
    attempt = Attempt.begin(location, stamp, known)
    with spark_border():
        written = _expanded(rows, stamp, bag=key_columns is None)
        writer = stamped(written, stamp).mode("append")
        (writer.option("mergeSchema", "true") if new_columns else writer).save(location)
    return attempt.confirm("append")


def replace_keys(
    spark: SparkSession,
    signed: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...],
    keys: pa.Table,
    version: Version,
) -> Applied | Superseded:
    """Apply a signed change to the rows of a bounded list of keys.

    `version` is the version the change was computed from; `keys` holds every key of the change.
    """
    predicate = key_predicate(keys, key_columns, "spark")
    with spark_border():
        stored = spark.read.format("delta").option("versionAsOf", int(version)).load(location)
        columns = stored.columns
        weighted = stored.where(predicate).selectExpr(*map(identifier, columns), _plus_one())
        both = weighted.unionByName(signed.select(*map(identifier, columns), WEIGHT))
        rows = net(both, columns)
    return replace_where(spark, rows, location, stamp, predicate=predicate, known=version)


def replace_where(
    spark: SparkSession,
    rows: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    predicate: str,
    known: Version | None = None,
) -> Applied | Superseded:
    """Put `rows` in the place of the rows for which `predicate` is true."""
    attempt = Attempt.begin(location, stamp, known)
    with spark_border():
        writer = stamped(_expanded(rows, stamp, bag=False), stamp).mode("overwrite")
        writer.option("replaceWhere", predicate).save(location)
    return attempt.confirm("replace-keys")


def _plus_one() -> str:
    return f"CAST(1 AS BIGINT) AS {identifier(WEIGHT)}"


def _expanded(rows: DataFrame, stamp: CommitStamp, *, bag: bool) -> DataFrame:
    """Return plain rows: each as often as its weight says, with ordinals in a bag."""
    from pyspark.sql import functions as f

    columns = [name for name in rows.columns if name not in (WEIGHT, SEQUENCE, POSITION)]
    if WEIGHT in rows.columns:
        weight = identifier(WEIGHT)
        message = text_literal(ROW_NOT_STORED)
        times = f"IF({weight} < 0, raise_error({message}), CAST({weight} AS INT))"
        copies = f.explode(f.expr(f"array_repeat(0, {times})"))
        rows = rows.select(*map(identifier, columns), copies.alias(WEIGHT))
        rows = rows.select(*map(identifier, columns))
    if not bag:
        return rows
    return rows.select(
        *map(identifier, columns),
        f.lit(int(stamp.sequence)).cast("bigint").alias(SEQUENCE),
        f.monotonically_increasing_id().alias(POSITION),
    )
