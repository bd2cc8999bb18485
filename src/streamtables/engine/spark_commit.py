"""What makes a Spark write ours: the transaction, the stamp, and the look at the log afterwards.

A Delta write with an old transaction version returns normally and does nothing.  So a write that
returns is not yet a success: the log entry that carries our sequence must hold our refresh id.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_entry import LogEntry
from streamtables.engine.outcomes import NOTHING_APPLIED, Applied, Strategy, Superseded
from streamtables.engine.stores import local_path
from streamtables.errors import TransientError
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

_APPLICATION = "spark.databricks.delta.write.txnAppId"
_SEQUENCE = "spark.databricks.delta.write.txnVersion"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


@dataclass(frozen=True)
class Attempt:
    """One write that is about to happen, and where the log stood before it."""

    location: str
    stamp: CommitStamp
    log: DeltaLog
    before: Version | None

    @classmethod
    def begin(cls, location: str, stamp: CommitStamp, known: Version | None = None) -> Attempt:
        """Note the head of the log; from a known version without listing it."""
        log = DeltaLog(location)
        return cls(location, stamp, log, log.head(known))

    def confirm(self, strategy: Strategy) -> Applied | Superseded:
        """Find the commit that holds our place in the log, and say whose it is.

        Raises:
            TransientError: a store does not show it yet; the next refresh finds and adopts it.
        """
        head = self.log.head(self.before)
        entry = None
        if head is not None:
            entry = self.log.find_transaction(self.stamp.table_id, self.stamp.sequence, upto=head)
        if entry is None:
            # A commit with a transaction is made whatever the statement found to do.
            if local_path(self.location) is None:
                raise TransientError(
                    "the store does not show the commit of this refresh yet",
                    detail="What was written is visible a moment later there.",
                    hint="It is tried again by itself, and finds the commit.",
                )
            return NOTHING_APPLIED
        if entry.stamp is None or entry.stamp.refresh_id != self.stamp.refresh_id:
            return Superseded(entry)
        return applied(entry, strategy)


def applied(entry: LogEntry, strategy: Strategy) -> Applied:
    """Read the row counts of a commit from its own metrics."""
    metrics = entry.metrics
    if entry.operation == "MERGE":
        updated = metrics.get("numTargetRowsUpdated", 0)
        inserted: int | None = metrics.get("numTargetRowsInserted", 0) + updated
        deleted: int | None = metrics.get("numTargetRowsDeleted", 0) + updated
    else:
        inserted = metrics.get("numOutputRows", entry.rows_added)
        copied = metrics.get("numCopiedRows", 0)
        inserted = None if inserted is None else inserted - copied
        deleted = metrics.get("numDeletedRows", entry.rows_removed)
    return Applied(entry.version, inserted, deleted, strategy, entry.files_added, entry.bytes_added)


def stamped(rows: DataFrame, stamp: CommitStamp) -> DataFrameWriter:
    """Return a Delta writer whose commit carries the stamp and the transaction."""
    return (
        rows.write.format("delta")
        .option("txnAppId", stamp.table_id)
        .option("txnVersion", str(stamp.sequence))
        .option("userMetadata", stamp.to_json())
    )


@contextmanager
def statement_settings(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """Set session settings for one statement.

    They hold for the whole session, so the session must be a fork that nobody else is using.
    """
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def stamp_settings(stamp: CommitStamp) -> dict[str, str]:
    """Return the settings by which a SQL statement commits with the stamp."""
    return {
        _APPLICATION: stamp.table_id,
        _SEQUENCE: str(stamp.sequence),
        _METADATA: stamp.to_json(),
    }
