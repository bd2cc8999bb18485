"""Sums of floats that are kept by adding, and how far they may be off, by numpy.

    error′ = error + ε (|sum| + |plus| + |minus| + |sum′|) + 128 ε moved

ε is half of the last digit.  Each addition rounds by ε of its result at most.  `plus` and `minus`
are sums themselves, over rows whose absolute values add up to `moved`: rounding errors of so many
additions as fit the driver go both ways, so a hundredfold of one is more than they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamtables.compiler.maintenance import FLOAT_TOLERANCE, StateColumn

_EPSILON = 2.0**-53
_MANY = 128.0


@dataclass(frozen=True)
class AddedFloats:
    """The new sum of each group and its bound, and the groups of which the sum is not known."""

    columns: Mapping[str, pa.ChunkedArray]
    lost: pa.ChunkedArray


def added_floats(
    item: StateColumn,
    moved: str,
    contributions: pa.Table,
    stored: Callable[[str], pa.ChunkedArray],
    sums: Mapping[str, pa.ChunkedArray],
) -> AddedFloats:
    """Add what came, take what went, and see whether the sum can still be trusted.

    `moved` names the contribution of absolute values, `stored` gives the stored values of a column,
    and `sums` has the new counts.
    """
    assert item.minus is not None
    assert item.count is not None
    assert item.error is not None
    assert item.special is not None
    old, error = (stored(name).to_numpy() for name in (item.name, item.error))
    came = (contributions.column(name) for name in (item.plus, item.minus, moved))
    plus, minus, changed = (values.to_numpy() for values in came)
    with np.errstate(over="ignore", invalid="ignore"):
        total = old + plus - minus
        rounded = np.abs(old) + np.abs(plus) + np.abs(minus) + np.abs(total) + _MANY * changed
        error = np.where(changed == 0, error, error + _EPSILON * rounded)
        known = np.isfinite(total) & (error <= FLOAT_TOLERANCE * np.abs(total))
    empty = sums[item.count].to_numpy() == 0
    special = sums[item.special].to_numpy() != 0
    lost = special | ~(known | empty | (changed == 0))
    columns = {item.name: np.where(empty, 0.0, total), item.error: np.where(empty, 0.0, error)}
    return AddedFloats(
        {name: pa.chunked_array([values]) for name, values in columns.items()},
        pa.chunked_array([lost]),
    )
