"""The names by which other layers speak of Spark's objects without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Session: TypeAlias = SparkSession
    Rows: TypeAlias = DataFrame
else:
    Session = Rows = object

__all__ = ["Rows", "Session"]
