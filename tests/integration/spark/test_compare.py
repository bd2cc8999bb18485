"""Two relations compared as bags: what is missing, what is too many, and a few of them."""

from __future__ import annotations

import pytest

from streamtables.engine.compare import compare
from streamtables.engine.session import SparkSessions

pytestmark = pytest.mark.spark

SCHEMA = "k int, x double"


def test_equal_bags_have_no_difference_and_a_sample_without_rows(
    spark_sessions: SparkSessions,
) -> None:
    spark = spark_sessions.get()
    rows = spark.createDataFrame([(1, 0.5), (1, 0.5), (2, None)], SCHEMA)
    found = compare(spark, rows, rows, inexact=False)
    assert (found.missing, found.extra, found.sample.num_rows) == (0, 0, 0)
    assert found.sample.column_names == ["k", "x", "__st_weight"]


def test_counts_matter_and_both_sides_are_shown(spark_sessions: SparkSessions) -> None:
    spark = spark_sessions.get()
    expected = spark.createDataFrame([(1, 0.5), (1, 0.5), (2, None)], SCHEMA)
    stored = spark.createDataFrame([(1, 0.5), (3, float("nan")), (3, float("nan"))], SCHEMA)
    found = compare(spark, expected, stored, inexact=False)
    assert (found.missing, found.extra) == (2, 2)
    weights = dict(
        zip(*found.sample.select(["k", "__st_weight"]).to_pydict().values(), strict=True)
    )
    assert weights == {1: 1, 2: 1, 3: -2}


def test_last_digits_of_floats_count_only_where_they_must(spark_sessions: SparkSessions) -> None:
    spark = spark_sessions.get()
    expected = spark.createDataFrame([(1, 1.0)], SCHEMA)
    near = spark.createDataFrame([(1, 1.0 + 1e-12)], SCHEMA)
    far = spark.createDataFrame([(1, 1.1)], SCHEMA)
    assert compare(spark, expected, near, inexact=True).missing == 0
    assert compare(spark, expected, near, inexact=False).missing == 1
    assert compare(spark, expected, far, inexact=True).extra == 1
