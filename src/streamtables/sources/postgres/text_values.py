"""Texts as the server prints them, turned into typed columns by kernels.

Arrow alone is not enough: it takes a number of 39 digits for a decimal and gives back what is left
of it in 128 bits, and it turns a number beyond all doubles into infinity.  Both are looked for
here before Arrow is asked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.sources.postgres.array_literals import elements
from streamtables.sources.postgres.facts import PgType
from streamtables.sources.postgres.text_bytes import DoesNotFit, TextBytes, first_where

_DIGITS_MAX = 38
_HEX_PREFIX = 2
# The modifier of a character type is its length, and four more.
_LENGTH_OFFSET = 4


def values(texts: pa.Array, pg: PgType, kind: pa.DataType) -> pa.Array:
    """Return large strings as values of the Arrow type `kind`; NULL stays NULL.

    Raises:
        DoesNotFit: a text has no value in the type.
    """
    if pa.types.is_list(kind):
        return _lists(texts, pg, kind)
    if pa.types.is_boolean(kind):
        return _booleans(texts)
    if pa.types.is_decimal(kind):
        return _decimals(texts, kind)
    if pa.types.is_floating(kind):
        return _floats(texts, kind)
    if pa.types.is_binary(kind):
        return _binaries(texts)
    if pa.types.is_string(kind):
        return _strings(texts, pg)
    return _cast(texts, kind)


def _cast(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        raise DoesNotFit(_first_not_cast(texts, kind)) from None


def _first_not_cast(texts: pa.Array, kind: pa.DataType) -> str:
    """Halve a column that cannot be cast until one text is left."""
    while len(texts) > 1:
        first, second = texts[: len(texts) // 2], texts[len(texts) // 2 :]
        try:
            first.cast(kind)
        except pa.ArrowInvalid:
            texts = first
        else:
            texts = second
    return str(texts[0].as_py())


def _booleans(texts: pa.Array) -> pa.Array:
    # Printed as one letter, cast to text as a word.
    true = pc.is_in(texts, pa.array(["t", "true"], texts.type))
    false = pc.is_in(texts, pa.array(["f", "false"], texts.type))
    known = pc.or_(pc.or_(true, false), pc.is_null(texts))
    first_where(texts, ~known.to_numpy(zero_copy_only=False))
    return pc.if_else(pc.is_null(texts), pa.scalar(None, pa.bool_()), true)


def _floats(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    numbers = _cast(texts, kind)
    named = pc.match_substring(texts, "Infinity")
    first_where(texts, _flags(pc.and_(pc.is_inf(numbers), pc.invert(named))))
    return numbers


def _decimals(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    lengths = pc.binary_length(texts)
    if (pc.max(lengths).as_py() or 0) > _DIGITS_MAX:
        # Zeros at the end say nothing, and may be more than Arrow reads.
        fraction = pc.match_substring(texts, ".")
        texts = pc.if_else(fraction, pc.utf8_rtrim(texts, "0"), texts)
        lengths = pc.binary_length(texts)
    whole, digits = _digits(texts, _numbers(lengths))
    first_where(texts, (whole > kind.precision - kind.scale) | (digits > _DIGITS_MAX))
    return _cast(texts, kind)


def _digits(texts: pa.Array, lengths: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return how many digits stand before the point, and in all; a zero before it is none."""
    point = _numbers(pc.find_substring(texts, "."))
    signs = _flags(pc.starts_with(texts, "-")).astype(np.int64)
    zeros = _flags(pc.match_substring_regex(texts, "^-?0")).astype(np.int64)
    whole = np.where(point < 0, lengths, point) - signs - zeros
    return whole, lengths - signs - zeros - (point >= 0)


def _binaries(texts: pa.Array) -> pa.Array:
    """Read the hexadecimal form: a backslash, an x, and two digits for each byte."""
    found = TextBytes.of(pc.fill_null(texts, "\\x"))
    starts, lengths = found.edges[:-1], np.diff(found.edges)
    prefixed = np.zeros(len(texts), np.bool_)
    sized = (lengths >= _HEX_PREFIX) & (lengths % 2 == 0)
    prefixed[sized] = found.data[starts[sized] + 1] == ord("x")
    first_where(texts, ~prefixed)
    digits = np.ones(len(found.data), np.bool_)
    digits[starts] = digits[starts + 1] = False
    letters = found.data[digits]
    # In ASCII the letters of both cases end in their value less nine, the figures in theirs.
    nibbles = (letters & 0x0F) + np.where(letters > ord("9"), 9, 0).astype(np.uint8)
    data = (nibbles[0::2] << 4) | nibbles[1::2]
    edges = np.concatenate(([0], np.cumsum((lengths - _HEX_PREFIX) // 2))).astype(np.int64)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(np.ascontiguousarray(data))]
    binaries = pa.Array.from_buffers(pa.large_binary(), len(texts), buffers).cast(pa.binary())
    return pc.if_else(pc.is_null(texts), pa.scalar(None, pa.binary()), binaries)


def _strings(texts: pa.Array, pg: PgType) -> pa.Array:
    """Return the texts as printed, also where a cast to text on the server says less or more."""
    if pg.name == "bpchar" and pg.modifier > _LENGTH_OFFSET:
        texts = pc.utf8_rpad(texts, width=pg.modifier - _LENGTH_OFFSET)
    if pg.name == "inet":
        texts = pc.replace_substring_regex(texts, "^([0-9.]+)/32$", "\\1")
        texts = pc.replace_substring_regex(texts, "^(.*:.*)/128$", "\\1")
    return texts.cast(pa.string())


def _lists(texts: pa.Array, pg: PgType, kind: pa.DataType) -> pa.Array:
    assert pg.element is not None
    # The one type of the server with a delimiter of its own: a box is printed with commas in it.
    found = elements(texts, ";" if pg.element.name == "box" else ",")
    inner = values(found.texts, pg.element, kind.value_type)
    edges = pa.array(found.edges, pa.int32())
    return pa.ListArray.from_arrays(edges, inner, type=kind, mask=pc.is_null(texts))


def _flags(found: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(found, False).to_numpy(zero_copy_only=False), np.bool_)


def _numbers(found: pa.Array) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(found, 0).to_numpy(zero_copy_only=False), np.int64)
