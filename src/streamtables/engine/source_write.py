"""Writing a change into a table that others own, as one commit after the version that was read."""

from __future__ import annotations

import pyarrow as pa

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_types import for_delta, for_spark
from streamtables.engine.key_predicate import value_predicate
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import Applied
from streamtables.engine.small_commit import ROWS_MAX, SmallHandle, commit, read_covered
from streamtables.engine.small_hand import read_keys
from streamtables.errors import CommitConflictError
from streamtables.positions import CommitStamp


def typed(rows: pa.Table, handle: SmallHandle) -> pa.Table:
    """Return signed rows in the order and types of a table; a value that does not fit fails."""
    weight = pa.field(WEIGHT, pa.int64())
    return for_delta(for_spark(rows), pa.schema([*handle.schema, weight]))


def typed_rows(rows: pa.Table, handle: SmallHandle) -> pa.Table:
    """Return signed rows in the types of a table, as Spark reads them: equal values look equal."""
    return for_spark(typed(rows, handle))


def rows_of_keys(handle: SmallHandle, key: tuple[str, ...], keys: pa.Table) -> pa.Table:
    """Return the stored rows of some keys, types as Spark reads them."""
    return for_spark(read_keys(handle, key, keys).named)


def rows_like(handle: SmallHandle, rows: pa.Table) -> pa.Table:
    """Return the stored rows that may equal some rows, and perhaps others."""
    predicate = value_predicate(rows, handle.schema.names, "datafusion")
    return read_covered(handle, predicate, rows_max=ROWS_MAX)


def write_signed(
    handle: SmallHandle, signed: pa.Table, key: tuple[str, ...], stamp: CommitStamp
) -> Applied:
    """Commit a netted change as the next version.

    Raises:
        NotSmall: deltalake cannot write this table; nothing has been written.
        CommitConflictError: another writer committed first, or took away a row that goes.
    """
    columns = handle.schema.names
    change = typed(signed, handle)
    coming, going = arrow_rows.split_by_sign(change)
    rows = arrow_rows.repeated(coming)
    if going.num_rows == 0:
        return commit(handle, rows, predicate=None, stamp=stamp, change=signed)
    # What is put in the place of a predicate's rows must itself be covered by it.
    if key:
        covered = read_keys(handle, key, change, listed=True)
        stored, predicate = covered.rows, covered.predicate
    else:
        predicate = value_predicate(change, columns, "datafusion")
        stored = read_covered(handle, predicate, rows_max=ROWS_MAX)
    kept, missing = arrow_rows.subtract(stored, going, columns)
    if missing:
        raise CommitConflictError(f"{missing} rows that go are no longer there")
    written = pa.concat_tables([kept, rows])
    return commit(handle, written, predicate=predicate, stamp=stamp, change=signed)
