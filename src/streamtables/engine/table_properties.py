"""The Delta properties that a stream table is made with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamtables.engine.names import ORDINALS
from streamtables.engine.sql_text import identifier, table_at, text_literal
from streamtables.fail_points import reach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

# Delta keeps statistics of this many columns unless told which.
_STATISTICS_MAX = 32

_STATISTICS = "delta.dataSkippingStatsColumns"
_BASE = {
    "delta.enableChangeDataFeed": "true",
    # The small hand rewrites the touched file; it does not write deletion vectors.
    "delta.enableDeletionVectors": "false",
    # Checkpoints cost a second of a small refresh; they are written when idle.
    "delta.checkpointInterval": "100",
}


def creation_properties(schema: StructType, key_columns: tuple[str, ...] | None) -> dict[str, str]:
    """Return the properties of a new stream table, statistics of its key columns first."""
    identity = ORDINALS if key_columns is None else key_columns
    ordered = [*identity, *(name for name in schema.names if name not in identity)]
    usable = [name for name in ordered if _has_statistics(schema[name].dataType)]
    named = ",".join(_column(name) for name in usable[:_STATISTICS_MAX])
    return {**_BASE, **({_STATISTICS: named} if named else {})}


@contextmanager
def statistics_of(
    spark: SparkSession, location: str, schema: StructType, wanted: Mapping[str, str]
) -> Iterator[None]:
    """Let the block change the columns of a table that names columns to keep statistics of.

    Delta refuses a schema without a column that the property names, so there the property goes
    first, and comes back for the new columns; both are commits of metadata alone.
    """
    stored = [(f.name, f.dataType) for f in spark.read.format("delta").load(location).schema]
    wished = [(f.name, f.dataType) for f in schema]
    if stored == wished:
        yield
        return
    table, name = table_at(location), text_literal(_STATISTICS)
    if any(column not in wished for column in stored):
        spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES IF EXISTS ({name})")
        reach("columns-freed")
    yield
    reach("columns-replaced")
    if (value := wanted.get(_STATISTICS)) is not None:
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({name} = {text_literal(value)})")


def _has_statistics(kind: DataType) -> bool:
    from pyspark.sql import types as t

    plain = isinstance(kind, t.NumericType | t.DateType | t.TimestampType | t.TimestampNTZType)
    return plain or kind == t.StringType()


def _column(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else identifier(name)
