"""Putting a table of ours back to an earlier version, as one commit of its own."""

from __future__ import annotations

import pyarrow as pa

from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.outcomes import Applied
from streamtables.engine.small_commit import first_line
from streamtables.errors import CommitConflictError, HistoryGoneError
from streamtables.positions import CommitStamp, Version


def put_back(location: str, head: Version, target: Version, stamp: CommitStamp) -> Applied:
    """Have the rows of `target` again, in the version after `head`.

    Raises:
        HistoryGoneError: files of that version were removed; nothing has been written.
        CommitConflictError: another writer committed first.
    """
    from deltalake import (
        CommitProperties,
        DeltaTable,
        PostCommitHookProperties,
        Transaction,
        write_deltalake,
    )
    from deltalake.exceptions import CommitFailedError, DeltaError

    properties = CommitProperties(
        custom_metadata={"userMetadata": stamp.to_json()},
        app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
        max_commit_retries=0,
    )
    hooks = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
    try:
        table = DeltaTable(location, version=head)
        if target == head:
            # The rows are those of then, and deltalake does not go back to where it is; what they
            # stand for may be another moment all the same, and rides in a commit without rows.
            none = pa.schema(table.schema().to_arrow()).empty_table()
            write_deltalake(
                table,
                none,
                mode="append",
                commit_properties=properties,
                post_commithook_properties=hooks,
            )
        else:
            table.restore(
                int(target), commit_properties=properties, post_commithook_properties=hooks
            )
    except CommitFailedError as error:
        raise CommitConflictError(
            f'another writer committed first to "{location}"', detail=first_line(error)
        ) from error
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise HistoryGoneError(
            f"version {target} can no longer be had", detail=first_line(error)
        ) from error
    version = Version(head + 1)
    entry = DeltaLog(location).entry(version)
    if entry is None or entry.stamp != stamp:
        raise CommitConflictError(f"version {version} is not the commit that was written")
    return Applied(version, None, None, "overwrite", entry.files_added, entry.bytes_added)
