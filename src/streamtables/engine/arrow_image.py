"""The binary image of rows in Arrow: equal rows get equal numbers, by kernels, not by row loops.

`row_codes` gives each row of a table a number such that two rows have the same number exactly when
they are the same row to a reader who looks at bits:

    NULL equals NULL · NaN equals NaN · 0.0 and -0.0 differ · a map is the set of its entries

The numbers hold within one call only, so rows of two tables are compared by putting the tables
together first.  A nested value becomes the numbers of its parts: a struct folds its fields, a
list is the byte string of its elements' numbers, a map sorts its entries by the key's number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.outcomes import NotSmall

Codes = npt.NDArray[np.int64]


def row_codes(table: pa.Table, columns: Sequence[str]) -> Codes:
    """Return a dense number per row, equal exactly for rows with the same image."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        codes = _fold(codes, _codes(_one_chunk(table.column(name))))
    return codes


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    # Older and newer pyarrow differ in whether combining gives an array or chunks of one.
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _fold(left: Codes, right: Codes) -> Codes:
    """Return the numbers of the pairs; both sides are dense, so the product cannot overflow."""
    if len(left) == 0:
        return left
    return _dense(left * (int(right.max()) + 1) + right)


def _dense(values: Codes) -> Codes:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _codes(array: pa.Array) -> Codes:
    kind = array.type
    if len(array) == 0 or pa.types.is_null(kind):
        return np.zeros(len(array), dtype=np.int64)
    if pa.types.is_struct(kind):
        return _struct_codes(array)
    if pa.types.is_map(kind):
        return _map_codes(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _list_codes(array)
    return _leaf_codes(array)


def _leaf_codes(array: pa.Array) -> Codes:
    kind = array.type
    if pa.types.is_floating(kind):
        array = _bits(array)
    elif pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    try:
        encoded = pc.dictionary_encode(array, null_encoding="encode")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise NotSmall(f"values of the type {kind} cannot be compared by Arrow") from error
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _bits(array: pa.Array) -> pa.Array:
    # NaN has many bit patterns; readers cannot tell them apart, so all count as one.
    one_nan = pc.if_else(pc.is_nan(array), pa.scalar(float("nan"), array.type), array)
    widths = {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
    return one_nan.view(widths[array.type.bit_width])


def _validity(array: pa.Array) -> Codes:
    return np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False), dtype=np.int64)


def _struct_codes(array: pa.Array) -> Codes:
    codes = _validity(array)
    # flatten() hands the parent's NULL down to the fields, so what lies under one cannot differ.
    for field in array.flatten():
        codes = _fold(codes, _codes(field))
    return _dense(codes)


def _bounds(array: pa.Array) -> tuple[Codes, Codes]:
    """Return where each row's elements start and how many there are; none for a NULL."""
    offsets = np.asarray(array.offsets.to_numpy(zero_copy_only=False), dtype=np.int64)
    lengths = (offsets[1:] - offsets[:-1]) * _validity(array)
    return offsets[:-1], lengths


def _list_codes(array: pa.Array) -> Codes:
    starts, lengths = _bounds(array)
    return _sequence_codes(_codes(array.values), starts, lengths, _validity(array))


def _map_codes(array: pa.Array) -> Codes:
    starts, lengths = _bounds(array)
    keys = _codes(array.keys)
    # `items` and `keys` span the whole child arrays, as `offsets` expects.
    entries = _fold(keys, _codes(array.items))
    positions = _spread(starts, lengths)
    rows = np.repeat(np.arange(len(array)), lengths)
    order = np.lexsort((entries[positions], rows))
    packed = entries[positions][order]
    packed_starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    return _sequence_codes(packed, packed_starts, lengths, _validity(array))


def _spread(starts: Codes, lengths: Codes) -> Codes:
    """Return the positions of all elements of all rows, row by row."""
    total = int(lengths.sum())
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    spread: Codes = np.repeat(starts, lengths) + within
    return spread


def _sequence_codes(elements: Codes, starts: Codes, lengths: Codes, valid: Codes) -> Codes:
    packed = np.ascontiguousarray(elements[_spread(starts, lengths)])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64) * packed.itemsize
    strings = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(starts), [None, pa.py_buffer(offsets), pa.py_buffer(packed)]
    )
    encoded = pc.dictionary_encode(strings).indices.to_numpy(zero_copy_only=False)
    return _fold(valid, _dense(np.asarray(encoded, dtype=np.int64)))
