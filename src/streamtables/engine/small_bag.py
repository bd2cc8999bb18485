"""The small hand on a keyless table: equal rows are that many rows, told apart by an ordinal.

A row that goes is looked up by its binary image; of several equal ones the oldest go.  They are
named by their ordinals (`__st_sequence`, `__st_position`), so exactly those rows are replaced.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_types import for_delta, for_spark
from streamtables.engine.integrity import damaged
from streamtables.engine.key_predicate import key_predicate, value_predicate
from streamtables.engine.names import ORDINALS, POSITION, SEQUENCE, WEIGHT, without_ordinals
from streamtables.engine.outcomes import NOTHING_APPLIED, Applied
from streamtables.engine.small_commit import ROWS_MAX, SmallHandle, commit, read_covered
from streamtables.engine.small_merge import (
    LISTED_MAX,
    MERGED_FROM,
    commit_merge,
    exact_columns,
    read_named,
)
from streamtables.engine.sql_text import identifier
from streamtables.positions import CommitStamp


def apply_to_bag(handle: SmallHandle, signed: pa.Table, stamp: CommitStamp) -> Applied:
    """Commit a signed change to a bag; see `small_hand.apply`."""
    columns = without_ordinals(handle.schema.names)
    fields = [*(handle.schema.field(name) for name in columns), pa.field(WEIGHT, pa.int64())]
    netted = arrow_rows.net(for_delta(for_spark(signed), pa.schema(fields)), columns)
    if netted.num_rows == 0:
        return NOTHING_APPLIED
    appearing, going = arrow_rows.split_by_sign(netted)
    rows = with_ordinals(arrow_rows.repeated(appearing), stamp).select(handle.schema.names)
    if not going.num_rows:
        return commit(handle, rows, predicate=None, stamp=stamp, change=netted)
    leaving = _stored_rows(handle, going, columns)
    if leaving.num_rows >= MERGED_FROM:
        # No stored row has this commit's sequence, so the rows that come meet none.
        return commit_merge(handle, rows, leaving, key_columns=ORDINALS, stamp=stamp, change=netted)
    predicate = _naming(leaving.select(list(ORDINALS)), stamp)
    return commit(handle, rows, predicate=predicate, stamp=stamp, change=netted)


def with_ordinals(rows: pa.Table, stamp: CommitStamp) -> pa.Table:
    """Return the rows with the ordinals that this commit gives them."""
    sequence = np.full(rows.num_rows, int(stamp.sequence), dtype=np.int64)
    position = np.arange(rows.num_rows, dtype=np.int64)
    return rows.append_column(SEQUENCE, pa.array(sequence)).append_column(
        POSITION, pa.array(position)
    )


def _stored_rows(handle: SmallHandle, going: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """Return as many stored rows, ordinals included, as go; of equal ones the oldest."""
    candidates = _candidates(handle, going, columns)
    found, missing = arrow_rows.matches(candidates, going, columns, order_by=ORDINALS)
    if missing:
        raise damaged(missing)
    return candidates.take(pa.array(found))


def _candidates(handle: SmallHandle, going: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    exact = exact_columns(going, columns)
    if exact and going.num_rows * len(columns) > LISTED_MAX:
        return read_named(handle, going, exact, rows_max=ROWS_MAX)
    predicate = value_predicate(going, columns, "datafusion")
    return read_covered(handle, predicate, rows_max=ROWS_MAX)


def _naming(leaving: pa.Table, stamp: CommitStamp) -> str:
    """Name the rows to replace, and the new ones: a written row must satisfy the predicate.

    No stored row has this commit's sequence, so naming it covers nothing more.
    """
    ours = f"{identifier(SEQUENCE, 'datafusion')} = {int(stamp.sequence)}"
    return f"({key_predicate(leaving, ORDINALS, 'datafusion')}) OR ({ours})"
