"""Which files of a table a change rewrites, as far as their statistics tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.small_commit import SmallHandle


@dataclass(frozen=True)
class Files:
    """Some files of a table."""

    count: int
    size: int
    """Their bytes."""


def all_files(handle: SmallHandle) -> Files:
    """Return the files of the table."""
    actions = _actions(handle)
    return Files(actions.num_rows, int(pc.sum(actions.column("size_bytes")).as_py() or 0))


def touched_files(handle: SmallHandle, rows: pa.Table) -> Files:
    """Return the files in which a row may stand that agrees with one of `rows` in every column.

    An estimate: a file counts unless the least and the greatest value of one column rule it out.
    """
    actions = _actions(handle)
    touched = np.ones(actions.num_rows, dtype=bool)
    for name in rows.column_names:
        if f"min.{name}" in actions.column_names and f"max.{name}" in actions.column_names:
            low, high = actions.column(f"min.{name}"), actions.column(f"max.{name}")
            touched &= _may_hold(low, high, rows.column(name))
    sizes = actions.column("size_bytes").to_numpy()
    return Files(int(touched.sum()), int(sizes[touched].sum()))


def _may_hold(low: pa.ChunkedArray, high: pa.ChunkedArray, values: pa.ChunkedArray) -> np.ndarray:
    """Return for each file whether one of the values lies within its bounds."""
    try:
        wanted = pc.unique(values.cast(low.type)).drop_null().sort()
    except pa.ArrowException:
        # Bounds of another type tell nothing.
        return np.ones(len(low), dtype=bool)
    ordered = wanted.to_numpy(zero_copy_only=False)
    unknown = pc.or_(low.is_null(), high.is_null()).to_numpy()
    known = ~unknown
    lows = low.to_numpy()[known]
    highs = high.to_numpy()[known]
    holds = np.ones(len(low), dtype=bool)
    first = np.searchsorted(ordered, lows, side="left")
    holds[known] = first < np.searchsorted(ordered, highs, side="right")
    return holds if values.null_count == 0 else np.ones(len(low), dtype=bool)


def _actions(handle: SmallHandle) -> pa.Table:
    return pa.table(handle.table.get_add_actions(flatten=True))
