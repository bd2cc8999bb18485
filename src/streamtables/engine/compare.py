"""Comparing two relations as bags, both ways, by binary image.

Sums of floats are the one exception: their last digits depend on the order of the rows.  Two rows
that agree in everything else are then the same row if their floats agree within a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from streamtables.engine import spark_image
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.handles import Rows, Session
from streamtables.engine.names import WEIGHT
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier

RELATIVE_TOLERANCE = 1e-9
_SAMPLE = 20


@dataclass(frozen=True)
class Difference:
    """Rows that are missing and rows that are too many, with a few of them as a sample."""

    missing: int
    extra: int
    sample: pa.Table


def compare(spark: Session, expected: Rows, stored: Rows, *, inexact: bool) -> Difference:
    """Return how `stored` differs from `expected`; both have the same column names."""
    from pyspark.sql import functions as f

    with spark_border():
        different = different_rows(expected, stored, inexact=inexact)
        counted = different.agg(
            f.sum(f.expr(f"greatest({WEIGHT}, 0L)")).alias("missing"),
            f.sum(f.expr(f"greatest(-{WEIGHT}, 0L)")).alias("extra"),
        ).collect()[0]
        missing, extra = int(counted["missing"] or 0), int(counted["extra"] or 0)
        sample = different.limit(_SAMPLE).toArrow() if missing or extra else _no_rows(different)
    return Difference(missing, extra, for_spark(sample))


def different_rows(expected: Rows, stored: Rows, *, inexact: bool) -> Rows:
    """Return expected − stored as a signed bag, without what only differs in digits of sums."""
    different = spark_image.difference(expected, stored)
    if inexact and (floats := _float_columns(expected)):
        return _forgiving(different, expected.columns, floats)
    return different


def _no_rows(rows: Rows) -> pa.Table:
    """Return the columns without a row, and without asking Spark for them."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(rows.schema, timezone="UTC").empty_table()


def _float_columns(rows: Rows) -> list[str]:
    return [name for name, kind in rows.dtypes if kind in ("float", "double")]


def _forgiving(different: Rows, columns: Sequence[str], floats: Sequence[str]) -> Rows:
    """Drop pairs of rows that agree but for the last digits of their floats."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    exact = [name for name in columns if name not in floats]
    schema = different.schema
    images = [spark_image.image(identifier(name), schema[name].dataType) for name in exact]
    keys = [f.expr(text) for text in images] or [f.lit(1)]
    group = Window.partitionBy(*keys)
    close = f.sum(WEIGHT).over(group) == 0
    for name in floats:
        value = f.col(identifier(name))
        low, high = f.min(value).over(group), f.max(value).over(group)
        room = f.lit(RELATIVE_TOLERANCE) * f.greatest(f.abs(low), f.abs(high))
        nulls = f.count(value).over(group)
        none = nulls == 0
        all_there = nulls == f.count(f.lit(1)).over(group)
        # Equality covers infinities and NaN, whose difference is no number.
        close = close & (none | (all_there & ((low == high) | ((high - low) <= room))))
    marked = different.withColumn("__st_close", close)
    return marked.where(~f.col("__st_close")).drop("__st_close")
