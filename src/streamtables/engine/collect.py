"""Bounded results of Spark on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.spark_errors import spark_border

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def fetch(rows: DataFrame, limit: int) -> pa.Table | None:
    """Return the rows as Arrow; None when there are more than `limit`.

    The limit costs one more stage (a shuffle of the few rows into one partition) and no more jobs.
    """
    with spark_border():
        table = rows.limit(limit + 1).toArrow()
    return None if table.num_rows > limit else for_spark(table)
