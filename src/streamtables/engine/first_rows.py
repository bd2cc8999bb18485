"""Which candidates are the first rows of a table, and whether they can be told at all.

The reasons stand in `compiler/maintenance/first_rows.py`; here they are kernels over a few rows.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.maintenance import PLACE
from streamtables.engine import arrow_rows


def first_of(candidates: pa.Table, stored: pa.Table, limit: int) -> pa.Table | None:
    """Return the first rows; None where a row that is not stored may stand before one of them.

    `candidates` have their places beside them; `stored` are the rows that were the first so far.
    """
    places = candidates.column(PLACE)
    first = candidates.filter(pc.less_equal(places, limit)).drop_columns([PLACE])
    if stored.num_rows < limit:
        return first
    wanted = arrow_rows.with_weight(stored, 1)
    still_there, _ = arrow_rows.matches(candidates, wanted, stored.column_names)
    last = pc.max(places.take(pa.array(still_there))).as_py()
    return first if (last or 0) >= limit else None
