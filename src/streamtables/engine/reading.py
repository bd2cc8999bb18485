"""Reading a stream table for people: without hidden columns, at one version."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import TableVersion, read_version
from streamtables.engine.handles import Rows, Session
from streamtables.engine.names import RESERVED_PREFIX
from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier
from streamtables.positions import Version


def read_visible(spark: Session, location: str, version: Version) -> Rows:
    """Return the visible columns as a DataFrame."""
    with spark_border():
        rows = read_version(spark, TableVersion(location, version))
        shown = [name for name in rows.columns if not name.startswith(RESERVED_PREFIX)]
        return rows.select(*map(identifier, shown))


def run_sql(spark: Session, text: str, tables: Mapping[str, tuple[str, Version | None]]) -> Rows:
    """Run a statement in which tables can be read by name: at a version, or as they are now.

    A name with a namespace cannot be a temporary view; such a table is read through its location.
    """
    with spark_border():
        for name, (location, version) in tables.items():
            if "." not in name:
                rows = (
                    spark.read.format("delta").load(location)
                    if version is None
                    else read_visible(spark, location, version)
                )
                rows.createOrReplaceTempView(identifier(name))
        return spark.sql(text)


def read_rows(location: str, version: Version, limit: int) -> pa.Table:
    """Return at most `limit` rows as Arrow, without Spark."""
    handle = SmallHandle.open(location, version)
    shown = [name for name in handle.schema.names if not name.startswith(RESERVED_PREFIX)]
    reader = pa.RecordBatchReader.from_stream(handle.table.scan(columns=shown))
    batches, rows = [], 0
    for batch in reader:
        if rows >= limit:
            break
        batches.append(batch.slice(0, limit - rows))
        rows += batches[-1].num_rows
    return for_spark(pa.Table.from_batches(batches, reader.schema))
