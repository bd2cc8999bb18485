"""Netting captured rows makes no Python object per row."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa

from streamtables.engine.names import WEIGHT
from streamtables.sources.postgres.buffer import net

ROWS = 100_000


def burst(rows: int) -> pa.Table:
    """Rows that came, went again, and came as others; half of them in the end."""
    numbers = np.arange(rows // 2)
    texts = pa.array(numbers % 1_000).cast(pa.string())
    half = pa.table({"id": numbers, "text": texts, "price": numbers / 4})
    came = half.append_column(WEIGHT, pa.array(np.ones(rows // 2, np.int64)))
    went = half.append_column(WEIGHT, pa.array(np.where(numbers % 2, -1, 1)))
    return pa.concat_tables([came, went])


def test_netting_makes_no_object_per_row():
    rows = burst(ROWS)
    tracemalloc.start()
    try:
        left = net(rows)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert left.num_rows == ROWS // 4
    # Eight or nine numbers of numpy's per row at a time; one text of a row would take as much again.
    assert most / ROWS < 80
