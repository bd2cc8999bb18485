"""Arrays as the server prints them, split into their elements by kernels, not row by row.

A literal is `{1,NULL,"a,b"}`.  The server puts quotes around every element that holds a quote, a
backslash, a brace, the delimiter or a space, that is empty, or that reads like NULL; inside quotes
a backslash stands before a quote or a backslash, and nowhere else.  So all literals of a column
are one run of bytes: which bytes are escaped follows from the length of the backslashes before
them, what lies inside quotes from the parity of the quotes before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.sources.postgres.text_bytes import TextBytes, first_where

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

_BACKSLASH, _QUOTE, _OPEN, _CLOSE = b'\\"{}'


@dataclass(frozen=True)
class Elements:
    """The elements of many arrays in a row, and where those of each array begin and end."""

    edges: Places
    texts: pa.Array


def elements(literals: pa.Array, delimiter: str) -> Elements:
    """Split the literals of one-dimensional arrays that count from 1; a NULL has no elements.

    Raises:
        DoesNotFit: a literal has more dimensions, or bounds of its own.
    """
    found = TextBytes.of(pc.fill_null(literals, "{}"))
    marks = _Marks.of(found.data, delimiter.encode()[0])
    _require_one_dimension(literals, found, marks)
    if len(literals) == 0:
        return Elements(np.zeros(1, np.int64), pa.array([], pa.large_string()))
    starts, ends = found.edges[:-1], found.edges[1:]
    filled = ends - starts > 2
    begins = marks.delimiters.copy()
    begins[starts[filled]] = True
    counts = np.add.reduceat(marks.delimiters, starts, dtype=np.int64) + filled
    edges = np.concatenate(([0], np.cumsum(counts)))
    return Elements(edges, _texts(found.data, marks, np.flatnonzero(begins)))


@dataclass(frozen=True)
class _Marks:
    """What each byte of the literals is for."""

    opens: Flags
    closes: Flags
    delimiters: Flags
    quotes: Flags
    escapes: Flags

    @classmethod
    def of(cls, data: npt.NDArray[np.uint8], delimiter: int) -> _Marks:
        slashes = data == _BACKSLASH
        escaped = _after_odd_runs(slashes)
        quotes = (data == _QUOTE) & ~escaped
        bare = ~np.logical_xor.accumulate(quotes)
        return cls(
            opens=(data == _OPEN) & bare,
            closes=(data == _CLOSE) & bare,
            delimiters=(data == delimiter) & bare,
            quotes=quotes,
            escapes=slashes & ~escaped,
        )


def _after_odd_runs(flags: Flags) -> Flags:
    """Tell which places come right after an odd number of flags in a row."""
    after = np.zeros(len(flags), np.bool_)
    if flags.any():
        places = np.arange(len(flags))
        last_other = np.maximum.accumulate(np.where(flags, -1, places))
        after[1:] = (places - last_other)[:-1] & 1
    return after


def _require_one_dimension(literals: pa.Array, found: TextBytes, marks: _Marks) -> None:
    # Bounds of its own stand before the first brace; a second dimension has braces of its own.
    braces = np.concatenate(([0], np.cumsum(marks.opens)))
    starts, ends = found.edges[:-1], found.edges[1:]
    one = (ends - starts >= 2) & (braces[ends] - braces[starts] == 1)
    one[one] &= marks.opens[starts[one]] & marks.closes[ends[one] - 1]
    first_where(literals, ~one)


def _texts(data: npt.NDArray[np.uint8], marks: _Marks, begins: Places) -> pa.Array:
    """Return the elements whose first byte comes after each of `begins`."""
    dropped = marks.quotes | marks.escapes | marks.opens | marks.closes | marks.delimiters
    kept = ~dropped
    before: Places = np.cumsum(kept) - kept
    values = data[kept]
    edges = np.append(before[begins], len(values)).astype(np.int64)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(values)]
    texts = pa.Array.from_buffers(pa.large_string(), len(begins), buffers)
    unquoted = pa.array(~marks.quotes[begins + 1])
    null = pc.and_(pc.equal(texts, "NULL"), unquoted)
    return pc.if_else(null, pa.scalar(None, pa.large_string()), texts)
