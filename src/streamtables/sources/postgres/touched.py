"""Which columns a change touches: who reads none of them sees nothing of it.

Let Δ be the signed rows of a commit, and π_U Δ what a reader of the columns U sees of them.

    U₀ = { c : π_c Δ = 0 }

has every column that can be left alone.  If π_U₀ Δ = 0, then π_U Δ = 0 for each U within U₀, and
the columns outside U₀ are those that are touched.  If it is not, as when rows exchanged values, no
answer is given.  A row that came or went for good leaves no π_U Δ at zero, also without columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from streamtables.engine.arrow_image import Codes, row_codes
from streamtables.engine.names import WEIGHT

ROWS_MAX = 5_000
"""More rows are not looked through: it would take longer than it can save."""


def touched_columns(signed: pa.Table) -> frozenset[str] | None:
    """Return the columns that signed rows touch; None is all of them."""
    weights = np.asarray(signed.column(WEIGHT).to_numpy(), np.int64)
    if signed.num_rows > ROWS_MAX or weights.sum():
        return None
    columns = [name for name in signed.column_names if name != WEIGHT]
    alone = [name for name in columns if _vanishes(signed, [name], weights)]
    if not _vanishes(signed, alone, weights):
        return None
    return frozenset(columns) - frozenset(alone)


def _vanishes(signed: pa.Table, columns: Sequence[str], weights: Codes) -> bool:
    codes = row_codes(signed, columns)
    # Sums of so few whole numbers are exact in floating point.
    return not np.bincount(codes, weights).any()
