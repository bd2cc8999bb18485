"""What a Delta table is: identity, columns, size, features; by deltalake where it can."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.column_types import Column, columns_of
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.small_commit import first_line
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import table_at
from streamtables.errors import SourceMissingError, SourceUnusableError
from streamtables.positions import Version

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from streamtables.engine.session import SparkSessions

_CHANGE_FEED = "delta.enableChangeDataFeed"
# deltalake opens tables with these, but cannot read their change feed or write them.
_DECLINED = {"columnMapping": "column mapping", "variantType": "VARIANT columns"}
_MODE = "delta.columnMapping.mode"


@dataclass(frozen=True)
class TableDescription:
    """A Delta table at one version."""

    table_id: str
    version: Version
    columns: tuple[Column, ...]
    partition_columns: tuple[str, ...]
    change_feed_on: bool
    features: frozenset[str]
    size_bytes: int
    files: int
    # None where the log keeps no row counts.
    rows: int | None
    # Why the small hand leaves this table to Spark; None when it does not.
    small_hand_refusal: str | None


def describe(location: str, sessions: SparkSessions | None = None) -> TableDescription:
    """Describe the table as it stands now; Spark is asked only where deltalake cannot open it."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    log = DeltaLog(location)
    if log.head() is None:
        raise SourceMissingError(
            f'there is no Delta table at "{location}"',
            hint="Give the folder that holds the table, the one with _delta_log in it.",
        )
    try:
        return _by_deltalake(DeltaTable(location))
    except TableNotFoundError as error:
        raise SourceMissingError(f'there is no Delta table at "{location}"') from error
    except (DeltaError, OSError) as error:
        log.require_shown()
        if sessions is None:
            raise SourceUnusableError(
                f'the Delta table at "{location}" cannot be read without Spark',
                detail=f"{first_line(error)}.",
            ) from error
        return _by_spark(location, sessions, reason=first_line(error))


def enable_change_feed(location: str, sessions: SparkSessions | None = None) -> None:
    """Have the table record its changes from the next commit on."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        DeltaTable(location).alter.set_table_properties({_CHANGE_FEED: "true"})
    except (DeltaError, OSError) as error:
        if sessions is None:
            raise SourceUnusableError(
                f'the change data feed of "{location}" cannot be turned on',
                detail=f"{first_line(error)}.",
            ) from error
        with sessions.lease("quick") as spark, spark_border():
            spark.sql(
                f"ALTER TABLE {table_at(location)} SET TBLPROPERTIES ('{_CHANGE_FEED}' = 'true')"
            )


def _by_deltalake(table: DeltaTable) -> TableDescription:
    metadata, protocol = table.metadata(), table.protocol()
    files = pa.table(table.get_add_actions())
    features = frozenset([*(protocol.reader_features or ()), *(protocol.writer_features or ())])
    if metadata.configuration.get(_MODE, "none") != "none":
        features |= {"columnMapping"}
    return TableDescription(
        table_id=str(metadata.id),
        version=Version(table.version()),
        columns=columns_of(json.loads(table.schema().to_json())),
        partition_columns=tuple(metadata.partition_columns),
        change_feed_on=metadata.configuration.get(_CHANGE_FEED, "").lower() == "true",
        features=features,
        size_bytes=pc.sum(files.column("size_bytes")).as_py() or 0,
        files=files.num_rows,
        rows=_rows(files),
        small_hand_refusal=_refusal(features, metadata.configuration),
    )


def _rows(files: pa.Table) -> int | None:
    if files.num_rows == 0:
        return 0
    if "num_records" not in files.column_names or files.column("num_records").null_count:
        return None
    return int(pc.sum(files.column("num_records")).as_py())


def _refusal(features: frozenset[str], configuration: dict[str, str]) -> str | None:
    names = [text for feature, text in _DECLINED.items() if feature in features]
    # The feature may be there and the mode off: then names are what they seem.
    if configuration.get(_MODE, "none") == "none":
        names = [text for text in names if text != _DECLINED["columnMapping"]]
    return f"the table uses {' and '.join(names)}" if names else None


def _by_spark(location: str, sessions: SparkSessions, *, reason: str) -> TableDescription:
    with sessions.lease("quick") as spark, spark_border():
        detail = spark.sql(f"DESCRIBE DETAIL {table_at(location)}").collect()[0]
        schema = spark.read.format("delta").load(location).schema
    head = DeltaLog(location).head()
    assert head is not None
    return TableDescription(
        table_id=str(detail["id"]),
        version=head,
        columns=columns_of(json.loads(schema.json())),
        partition_columns=tuple(detail["partitionColumns"]),
        change_feed_on=detail["properties"].get(_CHANGE_FEED, "").lower() == "true",
        features=frozenset(detail["tableFeatures"] or ()),
        size_bytes=int(detail["sizeInBytes"]),
        files=int(detail["numFiles"]),
        rows=None,
        small_hand_refusal=reason,
    )
