"""The change data feed of a Delta table as signed, netted rows.

    insert, update_postimage    weight +1
    delete, update_preimage     weight −1

`read_small` reads it by deltalake, without Spark, and declines what deltalake is known to read
wrongly or not at all; `read_spark` reads anything.  Both give the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine import arrow_rows, spark_image
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_entry import LogEntry
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import NotSmall, TooLarge
from streamtables.engine.small_commit import bounded, first_line
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_times import far_times
from streamtables.engine.sql_text import identifier
from streamtables.positions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CHANGE = "_change_type"
_APPEARING = ("insert", "update_postimage")
# Files larger than this in all are Spark's to read, however few their changed rows.
_BYTES_MAX = 256 * 1024 * 1024


def read_small(
    location: str,
    after: Version,
    upto: Version,
    *,
    columns: Sequence[str],
    limit: int,
) -> pa.Table | TooLarge:
    """Return the net changes in (after, upto] without Spark, or why that is for Spark.

    Raises:
        HistoryGoneError: the log no longer holds one of the versions.
    """
    entries = DeltaLog(location).entries(after, upto)
    changing = [entry for entry in entries if entry.changes_rows]
    if not changing:
        return no_changes(columns)
    if (reason := _too_large(entries, changing, limit)) is not None:
        return TooLarge(reason)
    files = [path for entry in changing for path in entry.feed_files]
    feed = _feed(location, after, upto, columns, limit, files)
    if isinstance(feed, TooLarge):
        return feed
    appearing = pc.is_in(feed.column(_CHANGE), pa.array(_APPEARING))
    weights = pc.if_else(appearing, pa.scalar(1, pa.int64()), pa.scalar(-1, pa.int64()))
    signed = feed.select(list(columns)).append_column(WEIGHT, weights)
    try:
        return arrow_rows.net(signed, columns)
    except NotSmall as declined:
        return TooLarge(declined.reason)


def read_spark(
    spark: SparkSession, location: str, after: Version, upto: Version, columns: Sequence[str]
) -> DataFrame:
    """Return the net changes in (after, upto] as a DataFrame."""
    with spark_border():
        signed = _signed_feed(spark, location, after, upto, columns)
        return spark_image.net(signed, columns)


def read_spark_added(
    spark: SparkSession, location: str, after: Version, upto: Version, columns: Sequence[str]
) -> DataFrame:
    """Return the changes in (after, upto] where rows only came: there is nothing to net."""
    with spark_border():
        return _signed_feed(spark, location, after, upto, columns)


def _signed_feed(
    spark: SparkSession, location: str, after: Version, upto: Version, columns: Sequence[str]
) -> DataFrame:
    feed = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", int(after) + 1)
        .option("endingVersion", int(upto))
        .load(location)
    )
    appearing = ", ".join(f"'{kind}'" for kind in _APPEARING)
    weight = f"CAST(IF({_CHANGE} IN ({appearing}), 1, -1) AS BIGINT) AS {identifier(WEIGHT)}"
    return feed.selectExpr(*map(identifier, columns), weight)


def no_changes(columns: Sequence[str]) -> pa.Table:
    """Return no rows; nobody asks for their types."""
    kinds = [(name, pa.null()) for name in columns]
    return pa.schema([*kinds, (WEIGHT, pa.int64())]).empty_table()


def _too_large(entries: Sequence[LogEntry], changing: Sequence[LogEntry], limit: int) -> str | None:
    """Say, from the log alone, why deltalake should not read these commits."""
    for entry in entries:
        # A feed over a change of schema is read by one schema; Spark knows which one.
        if entry.schema_string is not None and entry.version > 0:
            return f"version {entry.version} alters the table"
        if entry.feed_hazard is not None:
            return f"version {entry.version} holds {entry.feed_hazard}"
    size = sum(entry.feed_bytes for entry in changing)
    if size > _BYTES_MAX:
        return f"the changed files hold {size} bytes"
    # Twice the limit: an update is two rows of the feed, and much may net away.
    rows = sum(_feed_rows(entry) for entry in changing)
    return f"the log tells of {rows} changed rows" if rows > 2 * limit else None


def _feed_rows(entry: LogEntry) -> int:
    """Return how many rows the feed of a commit has at least, as far as its metrics tell."""
    if (told := entry.told_rows) is not None:
        return told
    return (entry.rows_added or 0) if entry.files_removed == 0 else 0


def _feed(
    location: str,
    after: Version,
    upto: Version,
    columns: Sequence[str],
    limit: int,
    files: Iterable[str],
) -> pa.Table | TooLarge:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(location, version=int(upto))
        known = pa.schema(table.schema().to_arrow())
        read = pa.schema([known.field(name) for name in columns if name in known.names])
        if far_times(location, files, read):
            return TooLarge("it has times that deltalake would read as others")
        reader = table.load_cdf(
            starting_version=int(after) + 1,
            ending_version=int(upto),
            # Each is read as SQL: an unquoted name would be taken in lower case.
            columns=[identifier(name, "datafusion") for name in (*columns, _CHANGE)],
        )
        rows = bounded(pa.RecordBatchReader.from_stream(reader), 2 * limit)
    except (DeltaError, OSError, pa.ArrowException) as error:
        return TooLarge(f"deltalake cannot read the change feed: {first_line(error)}")
    if rows is None:
        return TooLarge(f"the change feed has more than {2 * limit} rows")
    return for_spark(rows)


def total_weight(changes: pa.Table) -> int:
    """Return how many rows small changes add and remove."""
    return int(pc.sum(pc.abs(changes.column("__st_weight"))).as_py() or 0)


def count_spark(changes: DataFrame) -> int:
    """Return how many rows large changes add and remove."""
    with spark_border():
        [row] = changes.selectExpr("coalesce(sum(abs(__st_weight)), 0) AS n").collect()
    return int(row.n)
