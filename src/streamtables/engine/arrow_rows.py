"""Signed rows on the driver: netting, subtracting, repeating, all bounded and by kernels.

Rows are compared by their binary image (`arrow_image`).  Weights add up exactly (BIGINT).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.arrow_image import Codes, row_codes
from streamtables.engine.names import WEIGHT
from streamtables.errors import InternalError


def net(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return one row per image of `columns`, weights summed, rows of weight zero dropped."""
    if table.num_rows == 0:
        return table.select([*columns, WEIGHT])
    codes = row_codes(table, columns)
    weights = _weights(table)
    sums = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    np.add.at(sums, codes, weights)
    first = np.unique(codes, return_index=True)[1]
    kept = np.sort(first[sums != 0])
    netted = pa.array(sums[codes[kept]], pa.int64())
    # Built by name: a table without columns, as COUNT(*) reads it, cannot be taken from.
    rows = {name: table.column(name).take(pa.array(kept)) for name in columns}
    return pa.table({**rows, WEIGHT: netted})


def split_by_sign(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows of positive weight and the rows of negative weight."""
    weights = table.column(WEIGHT)
    return table.filter(pc.greater(weights, 0)), table.filter(pc.less(weights, 0))


def with_weight(table: pa.Table, weight: int) -> pa.Table:
    """Return the rows, each with the same weight."""
    return table.append_column(WEIGHT, pa.array(np.full(table.num_rows, weight, np.int64)))


def aligned(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return weighted rows in the order and types of a schema, the weight last."""
    wanted = pa.schema([*schema, pa.field(WEIGHT, pa.int64())])
    return table.select(wanted.names).cast(wanted)


def repeated(table: pa.Table) -> pa.Table:
    """Return each row as many times as its weight says, without the weight."""
    weights = _weights(table)
    if (weights < 0).any():
        raise InternalError("rows of negative weight cannot be written as rows")
    rows = table.drop_columns([WEIGHT])
    if (weights == 1).all():
        return rows
    return rows.take(pa.array(np.repeat(np.arange(table.num_rows), weights)))


def matches(
    stored: pa.Table, wanted: pa.Table, columns: Sequence[str], *, order_by: Sequence[str] = ()
) -> tuple[Codes, int]:
    """Find, for each wanted row, as many equal stored rows as its weight says in size.

    Of equal stored rows the first in the order of `order_by` are taken.  Returns the indices of
    the stored rows found, and how many could not be found.
    """
    codes = row_codes(_stacked(stored, wanted, columns), columns)
    here, there = codes[: stored.num_rows], codes[stored.num_rows :]
    needed = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(needed, there, np.abs(_weights(wanted)))
    sort_keys = [stored.column(name).to_numpy() for name in reversed(order_by)]
    order = np.lexsort((*sort_keys, here))
    found = order[_rank_in_group(here[order]) < needed[here[order]]]
    return np.sort(found), int(needed.sum()) - len(found)


def subtract(stored: pa.Table, wanted: pa.Table, columns: Sequence[str]) -> tuple[pa.Table, int]:
    """Return the stored rows without those that `wanted` names, and how many were not there."""
    found, missing = matches(stored, wanted, columns)
    return without_rows(stored, found), missing


def semi_join(stored: pa.Table, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return the stored rows whose key is one of `keys`; stored keys are unique."""
    found, _ = matches(stored, with_weight(distinct(keys, columns), 1), columns)
    return stored.take(pa.array(found))


def of_groups(stored: pa.Table, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return all stored rows whose key is one of `keys`, compared as Spark groups rows.

    That is the binary image, but for 0.0 and -0.0, which are one group.
    """
    if not columns:
        return stored
    both = _stacked(stored, keys, columns)
    for place, name in enumerate(columns):
        if pa.types.is_floating(both.schema.field(name).type):
            both = both.set_column(place, name, pc.add(both.column(name), 0.0))
    codes = row_codes(both, columns)
    return stored.filter(pa.array(np.isin(codes[: stored.num_rows], codes[stored.num_rows :])))


def without_rows(table: pa.Table, indices: Codes) -> pa.Table:
    """Return the rows whose index is not named."""
    keep = np.ones(table.num_rows, dtype=bool)
    keep[indices] = False
    return table.filter(pa.array(keep))


def distinct(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return the columns with each image once."""
    narrow = table.select(list(columns))
    if not columns or table.num_rows == 0:
        return narrow
    first = np.unique(row_codes(narrow, columns), return_index=True)[1]
    return narrow.take(pa.array(np.sort(first)))


def has_duplicates(table: pa.Table, columns: Sequence[str]) -> bool:
    """Whether two rows share the image of `columns`."""
    codes = row_codes(table, columns)
    return len(np.unique(codes)) < len(codes)


def _stacked(first: pa.Table, second: pa.Table, columns: Sequence[str]) -> pa.Table:
    names = list(columns)
    return pa.concat_tables(
        [first.select(names), second.select(names).cast(first.select(names).schema)]
    )


def _rank_in_group(sorted_codes: Codes) -> Codes:
    if len(sorted_codes) == 0:
        return sorted_codes
    starts = np.flatnonzero(np.concatenate(([True], sorted_codes[1:] != sorted_codes[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(sorted_codes)])))
    ranks: Codes = np.arange(len(sorted_codes)) - np.repeat(starts, lengths)
    return ranks


def _weights(table: pa.Table) -> Codes:
    return np.asarray(table.column(WEIGHT).to_numpy(), dtype=np.int64)
