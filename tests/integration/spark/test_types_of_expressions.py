"""Spark gives every expression the type that the compiler has for it."""

from __future__ import annotations

from streamtables.compiler.types import normal_type
from streamtables.engine.session import SparkSessions
from tests.unit.compiler.typed_expressions import COLUMNS, TYPED


def test_spark_gives_the_same_types(spark_sessions: SparkSessions) -> None:
    spark = spark_sessions.quick()
    columns = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in COLUMNS.items())
    differ = {}
    for expression, type_ in TYPED.items():
        (field,) = spark.sql(f"SELECT {expression} AS v FROM (SELECT {columns})").schema
        found = normal_type(field.dataType.simpleString())
        if found != type_:
            differ[expression] = (type_, found)
    assert not differ
