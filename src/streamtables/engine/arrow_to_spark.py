"""Arrow rows as a DataFrame, with the types that the Arrow schema says.

Left to itself Spark reads an Arrow timestamp without zone as a TIMESTAMP in the session's zone,
so the schema is always given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.outcomes import NotSmall

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return the rows as a DataFrame of the session.

    In one piece: where rows become a part of the plan, Spark stops at the first batch without any,
    and loses what comes after it.
    """
    rows = for_spark(table).combine_chunks()
    return spark.createDataFrame(rows, schema=struct_type(rows.schema))


def struct_type(schema: pa.Schema) -> StructType:
    """Return the Spark schema of Arrow columns; every column may hold NULL."""
    from pyspark.sql import types as t

    return t.StructType([t.StructField(f.name, _data_type(f.type), True) for f in schema])


def _data_type(kind: pa.DataType) -> DataType:
    from pyspark.sql import types as t

    if pa.types.is_struct(kind):
        return struct_type(pa.schema([kind.field(i) for i in range(len(kind))]))
    if pa.types.is_map(kind):
        return t.MapType(_data_type(kind.key_type), _data_type(kind.item_type), True)
    if pa.types.is_list(kind):
        return t.ArrayType(_data_type(kind.value_type), True)
    if pa.types.is_decimal(kind):
        return t.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return t.TimestampNTZType() if kind.tz is None else t.TimestampType()
    plain = _plain_types().get(kind)
    if plain is None:
        raise NotSmall(f"Spark has no type for Arrow's {kind}")
    return plain()


@cache
def _plain_types() -> dict[pa.DataType, Callable[[], DataType]]:
    from pyspark.sql import types as t

    return {
        pa.null(): t.NullType,
        pa.bool_(): t.BooleanType,
        pa.int8(): t.ByteType,
        pa.int16(): t.ShortType,
        pa.int32(): t.IntegerType,
        pa.int64(): t.LongType,
        pa.float32(): t.FloatType,
        pa.float64(): t.DoubleType,
        pa.string(): t.StringType,
        pa.binary(): t.BinaryType,
        pa.date32(): t.DateType,
    }
