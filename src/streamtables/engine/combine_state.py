"""Putting contributions to stored state on the driver, by Arrow kernels.

Counts and exact sums are added, checked for overflow as ANSI SQL demands; least and greatest values
are compared, of types whose order is that of their bytes.  Every other expression is Spark's.  Rows
are paired by the binary image of their key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.maintenance import ROWS, StateColumn, StateShape
from streamtables.compiler.maintenance.state_shape import StateKind
from streamtables.engine.arrow_image import row_codes
from streamtables.engine.arrow_types import spark_type
from streamtables.engine.combine_floats import added_floats
from streamtables.engine.integrity import damaged
from streamtables.errors import QueryFailedError

_KEY = "k{}"


@dataclass(frozen=True)
class CombinedState:
    """The new state of the groups that live on; the names are those of the state."""

    groups: pa.Table
    lost: pa.Table
    """The groups, with the same columns, of which an extremum went: it has to be found again."""


def combine_state(contributions: pa.Table, stored: pa.Table, state: StateShape) -> CombinedState:
    """Return the new state of every group that the contributions name.

    A sum is state + plus − minus; of floats, `combine_floats.py` says whether it still holds.  An
    extremum is the better one of state and plus, unless minus is as good as the state and plus is
    not: then the group is lost.

    Raises:
        TableDamagedError: a group would have fewer than no rows.
        QueryFailedError: a sum no longer fits its type.
    """
    partners = _partners(contributions, stored, state)
    sums = {
        item.name: _moved(item, contributions, stored, partners)
        for item in state.states
        if item.kind == "sum"
    }
    below = pc.sum(pc.less(sums[ROWS], 0)).as_py() or 0
    if below:
        raise damaged(below)
    extremes = {
        item.name: _improved(item, contributions, _old(item, stored, partners), sums)
        for item in state.states
        if item.kind in ("min", "max")
    }
    moved = {item.name: item.plus for item in state.states if item.kind == "float-error"}
    floats = [
        added_floats(item, moved[item.error], contributions, _drawn(stored, partners), sums)
        for item in state.states
        if item.error is not None
    ]
    columns = {inner: contributions.column(inner) for inner, _ in state.group}
    found = {**sums, **{name: extremum.values for name, extremum in extremes.items()}}
    for item in floats:
        found |= item.columns
    columns |= {item.name: found[item.name] for item in state.states}
    lost = _none_of(contributions.num_rows)
    for unknown in [*(e.lost for e in extremes.values()), *(f.lost for f in floats)]:
        lost = pc.or_(lost, unknown)
    lives = pc.invert(_none_of(len(lost))) if state.single_row else pc.greater(sums[ROWS], 0)
    combined = pa.table(columns)
    kept = combined.filter(pc.and_(lives, pc.invert(lost)))
    return CombinedState(kept, combined.filter(pc.and_(lives, lost)))


def copied_rows(combined: CombinedState, state: StateShape) -> pa.Table | None:
    """Return the stored rows of groups whose visible columns are state columns; else None."""
    if state.copied is None:
        return None
    groups = combined.groups
    columns = {}
    for item in state.copied:
        value = groups.column(item.state)
        if item.unless_zero is not None:
            some = pc.greater(groups.column(item.unless_zero), 0)
            value = pc.if_else(some, value, pa.scalar(None, value.type))
        columns[item.shown] = value
    for kept in state.states:
        columns[kept.name] = groups.column(kept.name)
    return pa.table(columns)


def _partners(contributions: pa.Table, stored: pa.Table, state: StateShape) -> pa.Array:
    """Return for each contribution the index of its stored row, NULL where there is none."""
    count = contributions.num_rows
    if not state.group:
        found = np.zeros(count, dtype=np.int64)
        return pa.array(found, mask=np.full(count, stored.num_rows == 0))
    names = [_KEY.format(i) for i in range(len(state.group))]
    theirs = stored.select([shown for _, shown in state.group]).rename_columns(names)
    ours = contributions.select([inner for inner, _ in state.group]).rename_columns(names)
    codes = row_codes(pa.concat_tables([ours.cast(theirs.schema), theirs]), names)
    mine, known = codes[:count], codes[count:]
    if not len(known):
        return pa.nulls(count, pa.int64())
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known, mine, sorter=order), len(known) - 1)
    indices = order[places]
    return pa.array(indices, mask=known[indices] != mine)


def _moved(
    item: StateColumn, contributions: pa.Table, stored: pa.Table, partners: pa.Array
) -> pa.ChunkedArray:
    kind = stored.schema.field(item.name).type
    old = pc.fill_null(stored.column(item.name).take(partners), _zero(kind))
    total = _plus(old, contributions.column(item.plus).cast(kind), kind)
    if item.minus is not None:
        total = _minus(total, contributions.column(item.minus).cast(kind), kind)
    return total


def _drawn(stored: pa.Table, partners: pa.Array) -> Callable[[str], pa.ChunkedArray]:
    """Return who gives the stored values of a column of floats, 0 where a group is new."""
    return lambda name: pc.fill_null(stored.column(name).take(partners), 0.0)


def _old(item: StateColumn, stored: pa.Table, partners: pa.Array) -> pa.ChunkedArray:
    """Return the stored extremum of each group, in a type that kernels compare."""
    values = stored.column(item.name)
    return values.cast(spark_type(values.type)).take(partners)


@dataclass(frozen=True)
class _Extremum:
    """The new extremum of each group, and the groups of which it is not known."""

    values: pa.ChunkedArray
    lost: pa.ChunkedArray


def _improved(
    item: StateColumn,
    contributions: pa.Table,
    old: pa.ChunkedArray,
    sums: Mapping[str, pa.ChunkedArray],
) -> _Extremum:
    """Return the extremum after the change; where there is no value, it is NULL."""
    assert item.minus is not None
    assert item.count is not None
    kind = old.type
    plus = contributions.column(item.plus).cast(kind)
    minus = contributions.column(item.minus).cast(kind)
    empty = pc.equal(sums[item.count], 0)
    improves = _is_as_good(plus, old, item.kind)
    values = pc.if_else(improves, plus, old)
    # Equal values cannot be told apart: of two that were stored, one that goes loses the group.
    goes = pc.and_(_is_as_good(minus, old, item.kind), pc.invert(improves))
    return _Extremum(
        pc.if_else(empty, pa.scalar(None, kind), values), pc.and_(goes, pc.invert(empty))
    )


def _is_as_good(value: pa.ChunkedArray, than: pa.ChunkedArray, kind: StateKind) -> pa.ChunkedArray:
    """Whether a value is there and no worse than another; than NULL it is no worse."""
    compared = pc.less_equal(value, than) if kind == "min" else pc.greater_equal(value, than)
    return pc.and_(pc.is_valid(value), pc.fill_null(compared, True))


def _none_of(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([np.zeros(count, dtype=bool)])


def _zero(kind: pa.DataType) -> pa.Scalar:
    # A cast from an integer would ask for room for all of its digits.
    return pa.scalar(Decimal(0) if pa.types.is_decimal(kind) else 0, kind)


def _plus(left: pa.ChunkedArray, right: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return _checked(pc.add_checked, left, right, kind)


def _minus(left: pa.ChunkedArray, right: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return _checked(pc.subtract_checked, left, right, kind)


def _checked(
    operation: object, left: pa.ChunkedArray, right: pa.ChunkedArray, kind: pa.DataType
) -> pa.ChunkedArray:
    """Compute in a type with room to spare, and see whether the result fits."""
    try:
        if pa.types.is_decimal(kind):
            wide = pa.decimal256(76, kind.scale)
            return operation(_widened(left, wide), _widened(right, wide)).cast(kind)  # type: ignore[operator]
        return operation(left, right)  # type: ignore[operator]
    except pa.ArrowInvalid as error:
        raise QueryFailedError(
            "a sum is too large for its type",
            detail=f"The state of the aggregate is kept as {kind}.",
            hint="Cast the argument of the aggregate to a wider DECIMAL.",
        ) from error


def _widened(values: pa.ChunkedArray, wide: pa.DataType) -> pa.ChunkedArray:
    # One digit less than the type holds, so that adding two cannot ask for a wider one.
    return values.cast(pa.decimal256(75, wide.scale))
