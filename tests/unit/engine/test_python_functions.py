"""Python functions before any Spark: what is known of one, and what is refused."""

from __future__ import annotations

import pytest
from pyspark.sql.types import DecimalType, IntegerType
from pyspark.util import PythonEvalType

from streamtables.engine.python_functions import PythonFunctions, described
from streamtables.errors import ConfigError


class MadeBySpark:
    """Has what pyspark puts on its functions."""

    def __init__(self, kind: int, *, deterministic: bool = True) -> None:
        self.returnType = DecimalType(12, 2) if deterministic else IntegerType()
        self.evalType = kind
        self.deterministic = deterministic

    def __call__(self, value: object) -> object:
        return value


def test_a_plain_function_has_the_type_that_it_is_given():
    found = described("f", len, "int", deterministic=True)
    assert (found.returns, found.deterministic, found.made_by_spark) == ("int", True, False)


def test_a_plain_function_needs_a_type():
    with pytest.raises(ConfigError, match="the type"):
        described("f", len, None, deterministic=True)


def test_a_function_of_pyspark_brings_its_type_and_its_nature():
    scalar = MadeBySpark(PythonEvalType.SQL_SCALAR_PANDAS_UDF)
    assert described("f", scalar, None, deterministic=True).returns == "decimal(12,2)"
    other = MadeBySpark(PythonEvalType.SQL_BATCHED_UDF, deterministic=False)
    assert not described("f", other, None, deterministic=True).deterministic


@pytest.mark.parametrize("how", ["PANDAS", "PANDAS_ITER", "ARROW", "ARROW_ITER"])
def test_an_aggregate_of_pyspark_is_known_for_one(how: str):
    made = MadeBySpark(getattr(PythonEvalType, f"SQL_GROUPED_AGG_{how}_UDF"))
    assert described("f", made, None, deterministic=True).aggregate
    scalar = MadeBySpark(getattr(PythonEvalType, f"SQL_SCALAR_{how}_UDF"))
    assert not described("f", scalar, None, deterministic=True).aggregate


def test_only_functions_of_one_value_and_aggregates_are_taken():
    table = MadeBySpark(PythonEvalType.SQL_GROUPED_MAP_PANDAS_UDF)
    with pytest.raises(ConfigError, match="one value for each row"):
        described("f", table, None, deterministic=True)


def test_names_are_compared_without_case():
    functions = PythonFunctions()
    functions.add(described("Size_Of", len, "int", deterministic=True))
    assert functions.has("size_of")
    assert not functions.has("other")
