"""Giving relations a name that SQL can use, in one session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pyarrow as pa

from streamtables.engine.arrow_to_spark import from_arrow
from streamtables.engine.spark_errors import spark_border
from streamtables.positions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLANNED_UP_TO = "spark.sql.execution.arrow.localRelationThreshold"

# What each session has bound, so that the next user of a pooled session finds none of it.
_BOUND: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


# What Spark keeps in memory or on disk for a session until its views go.
_KEPT: WeakKeyDictionary[SparkSession, list[DataFrame]] = WeakKeyDictionary()


FEW_ROWS = 5_000
"""How many rows may be a part of Spark's plan, which looks at all of them many times."""


ONE_TASK_ROWS = 50_000
"""Up to how many rows one task does what several would."""


@dataclass(frozen=True)
class TableVersion:
    """A Delta table as it was at one version."""

    location: str
    version: Version


def read_version(spark: SparkSession, table: TableVersion) -> DataFrame:
    """Return the rows of a table at one version."""
    reader = spark.read.format("delta").option("versionAsOf", int(table.version))
    return reader.load(table.location)


def bind(
    spark: SparkSession, name: str, relation: TableVersion | pa.Table | DataFrame
) -> DataFrame:
    """Register a relation as a temporary view of the session."""
    with spark_border():
        rows = _rows(spark, relation)
        rows.createOrReplaceTempView(name)
    _BOUND.setdefault(spark, set()).add(name)
    return rows


def keep(spark: SparkSession, name: str, rows: DataFrame) -> None:
    """Register rows that Spark computes on first use and keeps while they are bound."""
    with spark_border():
        kept = rows.persist()
    _KEPT.setdefault(spark, []).append(kept)
    bind(spark, name, kept)


def after_view(spark: SparkSession, name: str, location: str, version: Version) -> DataFrame:
    """Register a table at one version."""
    return bind(spark, name, TableVersion(location, version))


def unbind_all(spark: SparkSession) -> None:
    """Drop every view that was bound in the session."""
    for name in _BOUND.pop(spark, set()):
        spark.catalog.dropTempView(name)
    for rows in _KEPT.pop(spark, []):
        rows.unpersist()


@contextmanager
def _read_by_tasks(spark: SparkSession) -> Iterator[None]:
    """Have rows of the driver become a relation that tasks read, and not a part of the plan."""
    spark.conf.set(_PLANNED_UP_TO, "1b")
    try:
        yield
    finally:
        spark.conf.unset(_PLANNED_UP_TO)


def _rows(spark: SparkSession, relation: TableVersion | pa.Table | DataFrame) -> DataFrame:
    if isinstance(relation, TableVersion):
        return read_version(spark, relation)
    if isinstance(relation, pa.Table):
        with _read_by_tasks(spark) if relation.num_rows > FEW_ROWS else nullcontext():
            rows = from_arrow(spark, relation)
        # Known to be in one place, rows can be joined and grouped without being sent anywhere.
        return rows.coalesce(1) if relation.num_rows <= ONE_TASK_ROWS else rows
    return relation
