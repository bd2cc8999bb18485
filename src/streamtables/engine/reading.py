"""Reading a stream table for people: without hidden columns, at one version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import TableVersion, read_version
from streamtables.engine.handles import Rows, Session
from streamtables.engine.names import RESERVED_PREFIX
from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_times import scan
from streamtables.engine.sql_text import identifier
from streamtables.positions import Version


def read_visible(spark: Session, location: str, version: Version) -> Rows:
    """Return the visible columns as a DataFrame."""
    with spark_border():
        rows = read_version(spark, TableVersion(location, version))
        shown = [name for name in rows.columns if not name.startswith(RESERVED_PREFIX)]
        return rows.select(*map(identifier, shown))


@dataclass(frozen=True)
class Visible:
    """What a statement may name: tables at a version or as they are now, views, functions."""

    tables: Mapping[str, tuple[str, Version | None]]
    views: Mapping[str, str]
    """The queries of views, over names of `tables`."""
    functions: tuple[str, ...]
    """Statements that make temporary functions."""


def run_sql(spark: Session, text: str, visible: Visible) -> Rows:
    """Run a statement in which tables, views and functions can be used by their names.

    A name with a namespace cannot be a temporary view; such a table is read through its location.
    """
    with spark_border():
        for function in visible.functions:
            spark.sql(function)
        for name, (location, version) in visible.tables.items():
            if "." not in name:
                rows = (
                    spark.read.format("delta").load(location)
                    if version is None
                    else read_visible(spark, location, version)
                )
                rows.createOrReplaceTempView(identifier(name))
        for name, query in visible.views.items():
            if "." not in name:
                spark.sql(query).createOrReplaceTempView(identifier(name))
        return spark.sql(text)


def read_rows(location: str, version: Version, limit: int) -> pa.Table:
    """Return at most `limit` rows as Arrow, without Spark."""
    handle = SmallHandle.open(location, version)
    shown = [name for name in handle.schema.names if not name.startswith(RESERVED_PREFIX)]
    reader = scan(handle.table, shown)
    batches, rows = [], 0
    for batch in reader:
        if rows >= limit:
            break
        batches.append(batch.slice(0, limit - rows))
        rows += batches[-1].num_rows
    return for_spark(pa.Table.from_batches(batches, reader.schema))
