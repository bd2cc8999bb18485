"""What keeps a table quick to open and small on disk, as single jobs; none changes a row.

checkpoint   the log up to here in one file, so that nobody replays its entries; those go that are
             past the log's own retention
compact      many small files become few; the commit says that no row changed
remove       files that no version since a moment refers to, change files included
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.float_statistics import writer_properties
from streamtables.engine.log_files import open_log_files
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.small_commit import SmallHandle, first_line
from streamtables.engine.spark_times import has_far_times
from streamtables.errors import CommitConflictError, EnvironmentFaultError
from streamtables.positions import Version

if TYPE_CHECKING:
    from deltalake import PostCommitHookProperties

_SMALL_FILE = 16 * 1024 * 1024
_TARGET_FILE = 128 * 1024 * 1024
_LAST_CHECKPOINT = "_last_checkpoint"
_CLEAN = "delta.enableExpiredLogCleanup"
_FAILED = "the files of a table cannot be tidied up"


@dataclass(frozen=True)
class Condition:
    """What a table is like, as far as upkeep asks."""

    version: Version
    entries: int
    """Log entries that come after the last checkpoint."""
    files: int
    small_files: int


def condition(location: str) -> Condition | None:
    """Look at a table; None where there is none."""
    head = DeltaLog(location).head()
    if head is None:
        return None
    with _border():
        handle = SmallHandle.open(location, int(head))
        sizes = pa.table(handle.table.get_add_actions(flatten=True)).column("size_bytes")
        # Putting files together writes their rows anew, and times that are read wrongly with them.
        as_they_are = has_far_times(handle.table, handle.schema)
    small = 0 if as_they_are else int(pc.sum(pc.less(sizes, _SMALL_FILE)).as_py() or 0)
    return Condition(head, int(head) - _checkpoint_of(location), len(sizes), small)


def write_checkpoint(location: str, version: Version, *, keep_entries: bool = False) -> None:
    """Write the log up to a version in one file; old entries go as with a checkpoint of Spark.

    Their age is `delta.logRetentionDuration`, 30 days unless the table says otherwise.  A table of
    which Spark never writes a checkpoint would keep every entry for ever.
    """
    with _border():
        table = SmallHandle.open(location, int(version)).table
        table.create_checkpoint()
        # deltalake itself does not ask whether the table permits it.
        if not keep_entries and table.metadata().configuration.get(_CLEAN, "true") != "false":
            table.cleanup_metadata()


def compact(location: str, version: Version) -> tuple[int, int]:
    """Put small files together, in a commit that changes no row; return files before and after.

    Raises:
        CommitConflictError: another writer was first; nothing happened.
    """
    from deltalake.exceptions import CommitFailedError

    with _border():
        handle = SmallHandle.open(location, int(version))
        try:
            done = handle.table.optimize.compact(
                target_size=_TARGET_FILE,
                max_concurrent_tasks=1,
                post_commithook_properties=_no_hooks(),
                writer_properties=writer_properties(handle.schema),
            )
        except CommitFailedError as error:
            raise CommitConflictError(
                f'another writer committed first to "{location}"', detail=first_line(error)
            ) from error
    return int(done["numFilesRemoved"]), int(done["numFilesAdded"])


def remove_unused(location: str, version: Version, hours: int) -> int:
    """Remove files that no version of the last hours needs; return how many."""
    with _border():
        table = SmallHandle.open(location, int(version)).table
        remove = partial(
            table.vacuum,
            retention_hours=hours,
            enforce_retention_duration=False,
            full=True,
            post_commithook_properties=_no_hooks(),
        )
        # Removing is two entries in the log, so it is asked for only where there is something.
        return len(remove(dry_run=False)) if remove(dry_run=True) else 0


def _checkpoint_of(location: str) -> int:
    """Return the version of the last checkpoint; -1 where there is none."""
    data = open_log_files(location).read(_LAST_CHECKPOINT)
    try:
        return int(json.loads(data)["version"]) if data else -1
    except (KeyError, TypeError, ValueError):
        # A hint that cannot be read costs one checkpoint more, which writes it anew.
        return -1


def _no_hooks() -> PostCommitHookProperties:
    from deltalake import PostCommitHookProperties

    return PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)


@contextmanager
def _border() -> Iterator[None]:
    from deltalake.exceptions import DeltaError

    try:
        yield
    except NotSmall as declined:
        raise EnvironmentFaultError(_FAILED, detail=declined.reason) from declined
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise EnvironmentFaultError(_FAILED, detail=first_line(error)) from error
