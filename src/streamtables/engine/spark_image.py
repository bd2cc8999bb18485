"""The binary image of rows in Spark SQL, and netting by it.

Spark's own GROUP BY takes 0.0 and -0.0 for one value and cannot group maps, so a column is grouped
by its image: a float by its text (which tells the zeros apart and NaN from nothing else), a
collated string by its bytes, a map by its sorted entries, a nested value part by part.  Every
other type is its own image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtables.engine.names import WEIGHT
from streamtables.engine.sql_text import identifier, text_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


def image(expression: str, kind: DataType, depth: int = 0) -> str:
    """Return SQL for the image of an expression; the expression itself where it is its own."""
    from pyspark.sql import types as t

    if isinstance(kind, t.FloatType | t.DoubleType):
        return f"CAST({expression} AS STRING)"
    if isinstance(kind, t.StringType) and kind != t.StringType():
        return f"CAST({expression} AS BINARY)"
    if isinstance(kind, t.StructType):
        return _struct_image(expression, kind, depth)
    variable = f"x{depth}"
    if isinstance(kind, t.ArrayType):
        element = image(variable, kind.elementType, depth + 1)
        same = element == variable
        return expression if same else f"transform({expression}, {variable} -> {element})"
    if isinstance(kind, t.MapType):
        key = image(f"{variable}.key", kind.keyType, depth + 1)
        value = image(f"{variable}.value", kind.valueType, depth + 1)
        entry = f"named_struct('k', {key}, 'v', {value})"
        return f"array_sort(transform(map_entries({expression}), {variable} -> {entry}))"
    return expression


def _struct_image(expression: str, kind: StructType, depth: int) -> str:
    parts = [(f.name, f"{expression}.{identifier(f.name)}", f.dataType) for f in kind.fields]
    images = [(name, path, image(path, inner, depth)) for name, path, inner in parts]
    if all(path == seen for _, path, seen in images):
        return expression
    listed = ", ".join(f"{text_literal(name)}, {seen}" for name, _, seen in images)
    return f"IF({expression} IS NULL, NULL, named_struct({listed}))"


def same_image(left: str, right: str, schema: StructType, columns: Sequence[str]) -> str:
    """Return SQL that is true when two rows, named by alias or struct, have the same image."""
    tests = [
        f"{image(f'{left}.{identifier(name)}', schema[name].dataType)} <=> "
        f"{image(f'{right}.{identifier(name)}', schema[name].dataType)}"
        for name in columns
    ]
    return " AND ".join(tests) or "TRUE"


def net(signed: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return one row per image of `columns`, weights summed, rows of weight zero dropped."""
    from pyspark.sql import functions as f

    schema = signed.schema
    images = {name: image(identifier(name), schema[name].dataType) for name in columns}
    own = {name for name in columns if images[name] == identifier(name)}
    keys = [f.expr(images[name]).alias(_image_name(i)) for i, name in enumerate(columns)]
    firsts = [f.first(identifier(name)).alias(name) for name in columns if name not in own]
    grouped = signed.groupBy(*keys).agg(f.sum(identifier(WEIGHT)).alias(WEIGHT), *firsts)
    chosen = [
        f.col(_image_name(i)).alias(name) if name in own else f.col(identifier(name))
        for i, name in enumerate(columns)
    ]
    return grouped.where(f.col(WEIGHT) != 0).select(*chosen, WEIGHT)


def difference(left: DataFrame, right: DataFrame) -> DataFrame:
    """Return left − right as signed bags; both have the same columns."""
    columns = left.columns
    plus = left.selectExpr(*map(identifier, columns), _weight(1))
    minus = right.selectExpr(*map(identifier, columns), _weight(-1))
    return net(plus.unionByName(minus), columns)


def _weight(value: int) -> str:
    return f"CAST({value} AS BIGINT) AS {identifier(WEIGHT)}"


def _image_name(position: int) -> str:
    return f"__st_image_{position}"
