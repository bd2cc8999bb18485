"""What the small hand does with a table: open it at a version, read a predicate, commit once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from streamtables.engine import spark_times
from streamtables.engine.arrow_rows import net, split_by_sign
from streamtables.engine.arrow_types import for_delta
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.float_statistics import writer_properties
from streamtables.engine.key_predicate import EVERY_ROW
from streamtables.engine.names import RESERVED_PREFIX, WEIGHT
from streamtables.engine.outcomes import Applied, NotSmall, Strategy, Superseded
from streamtables.errors import CommitConflictError, InternalError, SourceMissingError
from streamtables.positions import CommitStamp, Version

if TYPE_CHECKING:
    from deltalake import DeltaTable

CommitOptions = dict[str, Any]
"""How deltalake is to commit, as the arguments that its writers share."""

# More covered rows than this are no longer something to hold on the driver.
ROWS_MAX = 1_000_000


@dataclass(frozen=True)
class SmallHandle:
    """A table opened at one version, for any number of reads and one commit.

    deltalake moves its own table object forward when it commits, so a second commit through the
    same handle would follow a version that nobody read.
    """

    location: str
    version: Version
    table: DeltaTable
    schema: pa.Schema

    @classmethod
    def open(
        cls, location: str, version: int, *, storage: dict[str, str] | None = None
    ) -> SmallHandle:
        """Open the table; a table that deltalake cannot handle is left to Spark."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        try:
            table = DeltaTable(location, version=version, storage_options=storage)
            schema = pa.schema(table.schema().to_arrow())
        except TableNotFoundError as error:
            raise SourceMissingError(f'there is no Delta table at "{location}"') from error
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise NotSmall(f"deltalake cannot open the table: {first_line(error)}") from error
        return cls(location, Version(version), table, schema)


def read_covered(
    handle: SmallHandle, predicate: str, *, rows_max: int, columns: list[str] | None = None
) -> pa.Table:
    """Return the stored rows for which the predicate is true, in the table's types."""
    names = columns or handle.schema.names
    schema = pa.schema([handle.schema.field(name) for name in names])
    with reading():
        rows = bounded(scan(handle, predicate, names), rows_max)
    if rows is None:
        raise NotSmall(f"the keys cover more than {rows_max} stored rows")
    return for_delta(rows, schema)


def scan(
    handle: SmallHandle, predicate: str, columns: list[str] | None = None
) -> pa.RecordBatchReader:
    """Return a stream of the stored rows for which the predicate is true."""
    wanted = None if predicate == EVERY_ROW else predicate
    return spark_times.scan(handle.table, columns or handle.schema.names, wanted)


def require_rewritable(handle: SmallHandle) -> None:
    """Leave it to Spark to rewrite times that deltalake would write back as others."""
    with reading():
        far = spark_times.has_far_times(handle.table, handle.schema)
    if far:
        raise NotSmall("it has times that deltalake would write back as others")


@contextmanager
def reading() -> Iterator[None]:
    """Leave to Spark what deltalake cannot read."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise NotSmall(f"deltalake cannot read the table: {first_line(error)}") from error


def bounded(reader: pa.RecordBatchReader, rows_max: int) -> pa.Table | None:
    """Read a stream to its end; None as soon as it has more rows than allowed."""
    batches, rows = [], 0
    for batch in reader:
        rows += batch.num_rows
        if rows > rows_max:
            return None
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)


def landed_already(handle: SmallHandle, stamp: CommitStamp) -> Applied | Superseded | None:
    """Say whether this sequence is in the log already; deltalake does not check by itself."""
    last = handle.table.transaction_version(stamp.table_id)
    if last is None or last < stamp.sequence:
        return None
    log = DeltaLog(handle.location)
    seen = Version(handle.table.version())
    entry = log.find_transaction(stamp.table_id, stamp.sequence, upto=seen)
    if entry is None:
        raise CommitConflictError(f"refresh {stamp.sequence} was committed before this one")
    if entry.stamp is not None and entry.stamp.refresh_id == stamp.refresh_id:
        return Applied(entry.version, None, None, "none", entry.files_added, entry.bytes_added)
    return Superseded(entry)


def commit(
    handle: SmallHandle,
    rows: pa.Table,
    *,
    predicate: str | None,
    stamp: CommitStamp,
    change: pa.Table,
) -> Applied:
    """Write the next version: append without a predicate, else put the rows in its place."""
    from deltalake import write_deltalake

    if predicate is not None:
        require_rewritable(handle)
    written = for_delta(rows, handle.schema)
    where = None if predicate == EVERY_ROW else predicate
    mode: Any = "append" if predicate is None else "overwrite"

    def write(options: CommitOptions) -> None:
        write_deltalake(handle.table, written, mode=mode, predicate=where, **options)

    strategy: Strategy = "append" if predicate is None else "replace-keys"
    return commit_by(handle, write, strategy=strategy, stamp=stamp, change=change)


def commit_by(
    handle: SmallHandle,
    write: Callable[[CommitOptions], None],
    *,
    strategy: Strategy,
    stamp: CommitStamp,
    change: pa.Table,
) -> Applied:
    """Have the next version written, by whatever takes the options of a commit."""
    if handle.table.version() != handle.version:
        raise InternalError("a handle was used for a second commit")
    _write(handle, write, stamp)
    version = Version(handle.version + 1)
    entry = DeltaLog(handle.location).entry(version)
    if entry is None or entry.stamp != stamp:
        raise CommitConflictError(f"version {version} is not the commit that was written")
    inserted, deleted = (_total(part) for part in split_by_sign(_visible(change)))
    return Applied(version, inserted, deleted, strategy, entry.files_added, entry.bytes_added)


def _visible(change: pa.Table) -> pa.Table:
    """Return the change as a reader sees it: a move of hidden state alone is none."""
    shown = [name for name in change.column_names if not name.startswith(RESERVED_PREFIX)]
    return change if len(shown) == change.num_columns - 1 else net(change, shown)


def _write(handle: SmallHandle, write: Callable[[CommitOptions], None], stamp: CommitStamp) -> None:
    from deltalake import CommitProperties, PostCommitHookProperties, Transaction
    from deltalake.exceptions import CommitFailedError, DeltaError

    # No retries: the next version after the one that was read, or nothing.
    properties = CommitProperties(
        custom_metadata={"userMetadata": stamp.to_json()},
        app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
        max_commit_retries=0,
    )
    # Checkpoints and clean-up belong to idle time, and history to its slowest reader.
    hooks = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
    try:
        write(
            {
                "commit_properties": properties,
                "post_commithook_properties": hooks,
                "writer_properties": writer_properties(handle.schema),
            }
        )
    except CommitFailedError as error:
        raise CommitConflictError(
            f'another writer committed first to "{handle.location}"', detail=first_line(error)
        ) from error
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise NotSmall(f"deltalake cannot write the table: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of a third party's message."""
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]


def _total(signed: pa.Table) -> int:
    return int(np.abs(signed.column(WEIGHT).to_numpy()).sum())
