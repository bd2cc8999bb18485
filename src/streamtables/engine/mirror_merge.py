"""Many captured changes, applied to a mirror by Spark, which reads them from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtables.engine import spark_hand
from streamtables.engine.names import RESERVED_PREFIX, WEIGHT, without_ordinals
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_image import net
from streamtables.engine.spark_merge import merge_signed
from streamtables.engine.sql_text import identifier
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LACKS = f"{RESERVED_PREFIX}lacks_"
"""Before the name of a column: whether a row has the value that the mirror has."""
UNDER = f"{RESERVED_PREFIX}under_"
"""Before the name of a key column: the key under which the mirror has the row with the value."""


def merge_spooled(
    spark: SparkSession,
    changes: str,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...] | None,
    version: Version,
    cleared: bool = False,
    keys: str | None = None,
) -> Applied | Superseded:
    """Apply the signed changes in a folder of files by one commit.

    Args:
        spark: a leased session.
        changes: a folder of Parquet files with the mirror's columns and `__st_weight`; for values
            that only the mirror has, with `LACKS` and `UNDER` columns too.
        location: where the mirror is.
        stamp: what rides in the commit.
        key_columns: what identifies a row; None for a bag.
        version: the version that the changes follow.
        cleared: all stored rows go first.
        keys: a folder of keys whose stored rows go first; the changes then hold no old rows.
    """
    with spark_border():
        signed = _completed(spark, spark.read.parquet(changes), location, version)
        if cleared:
            columns = [name for name in signed.columns if name != WEIGHT]
            signed = net(signed, columns)
        elif keys is not None:
            signed = signed.unionByName(_stored_rows_of(spark, keys, location, version))
    if cleared:
        return spark_hand.overwrite(
            spark, signed, location, stamp, key_columns=key_columns, known=version
        )
    return merge_signed(
        spark,
        signed,
        location,
        stamp,
        key_columns=key_columns,
        version=version,
        materialised=keys is None,
    )


def _completed(
    spark: SparkSession, signed: DataFrame, location: str, version: Version
) -> DataFrame:
    """Return the changes with the values that the server did not send, taken from the mirror."""
    lacking = [name.removeprefix(LACKS) for name in signed.columns if name.startswith(LACKS)]
    if not lacking:
        return signed
    from pyspark.sql import functions as f

    key = [name.removeprefix(UNDER) for name in signed.columns if name.startswith(UNDER)]
    stored = spark.read.format("delta").option("versionAsOf", int(version)).load(location)
    same = " AND ".join(f"changed.{identifier(UNDER + k)} = stored.{identifier(k)}" for k in key)
    both = signed.alias("changed").join(stored.alias("stored"), f.expr(same), "left")
    shown = [name for name in signed.columns if not name.startswith((LACKS, UNDER))]
    gone = f"stored.{identifier(key[0])} IS NULL"
    return both.selectExpr(*(_value(name, gone, lacks=name in lacking) for name in shown))


def _value(name: str, gone: str, *, lacks: bool) -> str:
    column = identifier(name)
    if not lacks:
        return f"changed.{column}"
    said = "'the mirror lacks a row that was changed on the PostgreSQL server'"
    stored = f"IF({gone}, raise_error({said}), stored.{column})"
    return f"IF(changed.{identifier(LACKS + name)}, {stored}, changed.{column}) AS {column}"


def _stored_rows_of(spark: SparkSession, keys: str, location: str, version: Version) -> DataFrame:
    """Return the stored rows of some keys as rows that go."""
    from pyspark.sql import functions as f

    stored = spark.read.format("delta").option("versionAsOf", int(version)).load(location)
    shown = stored.select(*map(identifier, without_ordinals(stored.columns)))
    wanted = spark.read.parquet(keys).distinct()
    same = " AND ".join(
        f"stored.{identifier(name)} <=> wanted.{identifier(name)}" for name in wanted.columns
    )
    rows = shown.alias("stored").join(wanted.alias("wanted"), f.expr(same), "left_semi")
    return rows.selectExpr("*", f"CAST(-1 AS BIGINT) AS {identifier(WEIGHT)}")
