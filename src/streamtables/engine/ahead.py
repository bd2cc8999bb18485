"""A table as it will be: the rows of one version with a change that is not committed yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_to_spark import from_arrow
from streamtables.engine.binding import TableVersion, bind, read_version
from streamtables.engine.names import WEIGHT
from streamtables.engine.spark_errors import spark_border

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Ahead:
    """A change on top of a version: visible columns and `__st_weight`, netted.

    `key` is what identifies a row: () for a table of one row, None for a bag.
    """

    table: TableVersion
    signed: pa.Table
    key: tuple[str, ...] | None


def bind_ahead(spark: SparkSession, view: str, ahead: Ahead) -> None:
    """Register the table with the change in it."""
    coming, going = arrow_rows.split_by_sign(ahead.signed)
    columns = [name for name in ahead.signed.column_names if name != WEIGHT]
    with spark_border():
        stored = read_version(spark, ahead.table).select(
            *(f"`{name.replace('`', '``')}`" for name in columns)
        )
        kept = _without(spark, stored, going, ahead.key) if going.num_rows else stored
        rows = arrow_rows.repeated(coming)
        whole = kept.unionByName(from_arrow(spark, rows)) if rows.num_rows else kept
    bind(spark, view, whole)


def _without(
    spark: SparkSession, stored: DataFrame, going: pa.Table, key: tuple[str, ...] | None
) -> DataFrame:
    if key is None:
        # Equal rows are that many rows, and as many go as the change says.
        gone = arrow_rows.with_weight(going.drop_columns([WEIGHT]), 1)
        counts = pa.compute.abs(going.column(WEIGHT))
        gone = gone.set_column(gone.num_columns - 1, WEIGHT, counts)
        return stored.exceptAll(from_arrow(spark, arrow_rows.repeated(gone)))
    if not key:
        return stored.limit(0)
    from pyspark.sql.functions import broadcast, col

    named = [f"__st_gone_{place}" for place in range(len(key))]
    gone_keys = broadcast(from_arrow(spark, going.select(list(key)).rename_columns(named)))
    same = reduce(
        lambda first, second: first & second,
        (
            col(f"`{name.replace('`', '``')}`").eqNullSafe(col(gone))
            for name, gone in zip(key, named, strict=True)
        ),
    )
    return stored.join(gone_keys, same, "left_anti")
