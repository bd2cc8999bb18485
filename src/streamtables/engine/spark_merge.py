"""MERGE of a signed change, for changes too large for the driver.

Keyed:  the two sides of a key are folded into one source row, so that

            − and +   update        − alone   delete        + alone   insert

Bag:    each row that goes is joined to stored rows of the same binary image; the first of them in
        ordinal order, as many as its weight says, are deleted by ordinal.

A row that goes and is not stored, or a key with two rows, raises inside the statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from streamtables.engine.names import ORDINALS, POSITION, SEQUENCE, WEIGHT, without_ordinals
from streamtables.engine.outcomes import NOTHING_APPLIED, Applied, Superseded
from streamtables.engine.spark_commit import Attempt, stamp_settings, statement_settings
from streamtables.engine.spark_errors import DUPLICATE_KEY, ROW_NOT_STORED, spark_border
from streamtables.engine.spark_image import difference, image, net, same_image
from streamtables.engine.sql_text import identifier, table_at, text_literal
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_MATERIALIZE = "spark.databricks.delta.merge.materializeSource"


def merge_signed(
    spark: SparkSession,
    signed: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    key_columns: tuple[str, ...] | None,
    version: Version,
    materialised: bool = False,
    netted: bool = False,
    inexact: tuple[str, ...] = (),
) -> Applied | Superseded:
    """Apply a signed change by one MERGE.

    Args:
        spark: a leased session: the stamp travels through its settings.
        signed: the stored columns, without ordinals for a bag, and `__st_weight`.
        location: where the table is.
        stamp: what rides in the commit.
        key_columns: what identifies a row; () for a single row, None for a bag.
        version: the version that the change was computed from.
        materialised: the change is rows already, so MERGE may read it twice.
        netted: each row of the change stands in it once.
        inexact: columns whose stored value a retraction need not repeat (float aggregates).
    """
    attempt = Attempt.begin(location, stamp, version)
    view = f"__st_merge_{uuid4().hex}"
    settings = {**stamp_settings(stamp), _MATERIALIZE: "none" if materialised else "auto"}
    with spark_border():
        stored = spark.read.format("delta").option("versionAsOf", int(version)).load(location)
        schema = stored.schema
        if not netted:
            columns = without_ordinals(stored.columns)
            signed = net(signed.select(*map(identifier, columns), WEIGHT), columns)
        if key_columns is None:
            source = _bag_source(stored, signed, stamp)
            statement = _bag_statement(location, view, schema)
        else:
            source = _keyed_source(signed, schema, key_columns)
            compared = [name for name in schema.names if name not in inexact]
            statement = _keyed_statement(location, view, schema, key_columns, compared)
        source.createOrReplaceTempView(view)
        try:
            with statement_settings(spark, settings):
                spark.sql(statement)
        finally:
            spark.catalog.dropTempView(view)
    return attempt.confirm("merge")


def merge_difference(
    spark: SparkSession,
    rows: DataFrame,
    stored: DataFrame,
    location: str,
    stamp: CommitStamp,
    *,
    bag: bool,
    version: Version,
    always: bool,
) -> Applied | Superseded:
    """Have a table hold `rows`: write what differs from `stored`, its rows at `version`.

    No difference is no commit, unless one is `always` wanted.  Rows are told apart by all their
    columns and not by a key, as those that are stored may have had another one.
    """
    columns = rows.columns
    with spark_border():
        signed = difference(rows, stored.select(*map(identifier, columns)))
        # Not kept in between: with these rows in Spark's cache the MERGE ended as a conflict.
        if not always and signed.isEmpty():
            return NOTHING_APPLIED
    return merge_signed(
        spark,
        signed,
        location,
        stamp,
        key_columns=None if bag else tuple(columns),
        version=version,
        netted=True,
    )


def _keyed_source(netted: DataFrame, schema: StructType, key_columns: tuple[str, ...]) -> DataFrame:
    """Fold the change of each key into one row: what was, what is, and what to do."""
    from pyspark.sql import functions as f

    keys = [
        f.expr(image(identifier(name), schema[name].dataType)).alias(_key_name(i))
        for i, name in enumerate(key_columns)
    ]
    row, weight = f.struct(*map(identifier, schema.names)), f.col(WEIGHT)
    folded = netted.groupBy(*keys).agg(
        f.first(f.when(weight > 0, row), ignorenulls=True).alias("__st_new"),
        f.first(f.when(weight < 0, row), ignorenulls=True).alias("__st_old"),
        f.sum(f.greatest(weight, f.lit(0))).alias("__st_appearing"),
        f.sum(f.greatest(-weight, f.lit(0))).alias("__st_going"),
    )
    # Of no change at all the single row of a global aggregate would still be folded, into nothing.
    return folded.where("__st_appearing + __st_going > 0").select(
        *[_key_name(i) for i in range(len(key_columns))],
        "__st_new",
        "__st_old",
        f.expr(
            f"CASE WHEN __st_appearing > 1 THEN {_raise(DUPLICATE_KEY)}"
            f" WHEN __st_going > 1 THEN {_raise(ROW_NOT_STORED)}"
            " WHEN __st_appearing = 1 AND __st_going = 1 THEN 'update'"
            " WHEN __st_appearing = 1 THEN 'insert' ELSE 'delete' END"
        ).alias("__st_action"),
    )


def _keyed_statement(
    location: str,
    view: str,
    schema: StructType,
    key_columns: tuple[str, ...],
    compared: Sequence[str],
) -> str:
    on = " AND ".join(
        f"{image(f't.{identifier(name)}', schema[name].dataType)} <=> s.{_key_name(i)}"
        for i, name in enumerate(key_columns)
    )
    first = schema[0]
    fails = f"CAST({_raise(ROW_NOT_STORED)} AS {first.dataType.simpleString()})"
    names = [identifier(name) for name in schema.names]
    new = [f"s.__st_new.{name}" for name in names]
    updates = ", ".join(f"t.{name} = {value}" for name, value in zip(names, new, strict=True))
    same = same_image("t", "s.__st_old", schema, compared)
    return (
        f"MERGE INTO {table_at(location)} AS t USING {view} AS s ON {on or 'TRUE'}"
        f" WHEN MATCHED AND (s.__st_action = 'insert' OR NOT ({same}))"
        f" THEN UPDATE SET t.{names[0]} = {fails}"
        f" WHEN MATCHED AND s.__st_action = 'update' THEN UPDATE SET {updates}"
        " WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED AND s.__st_action = 'insert'"
        f" THEN INSERT ({', '.join(names)}) VALUES ({', '.join(new)})"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(names)})"
        f" VALUES ({', '.join([fails, *new[1:]])})"
    )


def _bag_source(stored: DataFrame, netted: DataFrame, stamp: CommitStamp) -> DataFrame:
    """Return the ordinals of the rows that go, and the rows that come with theirs."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    columns = without_ordinals(stored.columns)
    schema = stored.schema
    going = netted.where(f.col(WEIGHT) < 0).withColumn("__st_row", f.monotonically_increasing_id())
    on = f.expr(same_image("g", "t", schema, columns))
    joined = going.alias("g").join(stored.alias("t"), on, "left")
    equal = Window.partitionBy("g.__st_row")
    rank = f.row_number().over(equal.orderBy(*[f.col(f"t.{name}") for name in ORDINALS]))
    found = f.count(f"t.{SEQUENCE}").over(equal)
    ranked = joined.select(
        *[f.col(f"t.{identifier(name)}").alias(name) for name in schema.names],
        f.col(f"g.{WEIGHT}").alias(WEIGHT),
        rank.alias("__st_rank"),
        found.alias("__st_found"),
    ).where(f"__st_rank <= -{WEIGHT}")
    checked = f.expr(f"IF(__st_found < -{WEIGHT}, {_raise(ROW_NOT_STORED)}, {SEQUENCE})")
    leaving = ranked.select(
        *map(identifier, columns),
        checked.alias(SEQUENCE),
        POSITION,
        f.lit("delete").alias("__st_action"),
    )
    copies = f.explode(f.expr(f"array_repeat(0, CAST({WEIGHT} AS INT))")).alias(WEIGHT)
    coming = netted.where(f.col(WEIGHT) > 0).select(*map(identifier, columns), copies)
    arriving = coming.select(
        *map(identifier, columns),
        f.lit(int(stamp.sequence)).cast("bigint").alias(SEQUENCE),
        f.monotonically_increasing_id().alias(POSITION),
        f.lit("insert").alias("__st_action"),
    )
    return leaving.unionByName(arriving)


def _bag_statement(location: str, view: str, schema: StructType) -> str:
    on = " AND ".join(f"t.{name} = s.{name}" for name in ORDINALS)
    names = [identifier(name) for name in schema.names]
    values = [f"s.{name}" for name in names]
    first = f"CAST({_raise(ROW_NOT_STORED)} AS {schema[0].dataType.simpleString()})"
    return (
        f"MERGE INTO {table_at(location)} AS t USING {view} AS s ON {on}"
        " WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED AND s.__st_action = 'insert'"
        f" THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(names)})"
        f" VALUES ({', '.join([first, *values[1:]])})"
    )


def _key_name(position: int) -> str:
    return f"__st_key_{position}"


def _raise(message: str) -> str:
    return f"raise_error({text_literal(message)})"
