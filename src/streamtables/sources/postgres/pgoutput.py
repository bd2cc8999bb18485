"""pgoutput messages, read column by column: a loop over columns, never one over rows.

All messages of a fetch stand in one buffer.  The tuples of one table all have the same columns, so
the first column of every row is found at once, its lengths tell where every second column begins,
and so on.  Formats and letters are those of the PostgreSQL manual, "Logical Replication Message
Formats", protocol version 1, values as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamtables.errors import InternalError
from streamtables.sources.postgres.descriptions import (
    Relation,
    Truncated,
    cut_off,
    read_relation,
    read_truncated,
    read_type,
)

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

BEGIN, RELATION, TRUNCATE, TYPE = b"BRTY"
INSERT, UPDATE, DELETE = b"IUD"
_NEW, _KEY, _OLD = b"NKO"
_TEXT, _NULL, _UNCHANGED = b"tnu"

# A number that begins in the last message can be read before its end is looked at.
_BEYOND = bytes(32)
_BEGIN_BYTES = 21

_MICROSECONDS_TO_2000 = 946_684_800_000_000
"""From the Unix epoch to PostgreSQL's."""


@dataclass(frozen=True)
class Transactions:
    """The transactions that begin in a fetch; a message belongs to the last one before it."""

    messages: Places
    xids: Places
    """Top-level ids, the lower 32 bits."""
    commit_lsns: Places
    """Where in the log the record of each commit begins; they never fall."""
    commit_times_us: Places
    """Microseconds since 1970, UTC."""


@dataclass(frozen=True)
class Values:
    """One column of many rows: where each value lies, and whether it is there."""

    data: Bytes
    starts: Places
    lengths: Places
    kinds: Bytes

    @property
    def unchanged(self) -> Flags:
        """Which values are stored out of line, were not changed, and so are not sent."""
        return np.equal(self.kinds, _UNCHANGED)

    def text(self) -> pa.Array:
        """Return the values as text; NULL also where a value was not sent."""
        # Values and the gaps between them in turn, over the buffer as it is; every second is taken.
        count = len(self.starts)
        edges = np.empty(2 * count, np.int64)
        edges[0::2] = self.starts
        edges[1::2] = self.starts + self.lengths
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(self.data)]
        both = pa.Array.from_buffers(pa.large_string(), max(2 * count - 1, 0), buffers)
        found = both.take(pa.array(np.arange(0, 2 * count, 2), mask=self.kinds != _TEXT))
        try:
            found.validate(full=True)
        except pa.ArrowInvalid as error:
            raise InternalError("a value in the stream of a slot is not UTF-8 text") from error
        return found


@dataclass(frozen=True)
class Tuples:
    """The tuples that some of the messages carry."""

    messages: Places
    """The number of the message that each row came with, in the order of the stream."""
    columns: tuple[Values, ...]


@dataclass(frozen=True)
class RowChanges:
    """The changes of one table while it had one shape."""

    relation: Relation
    old: Tuples
    """Rows that went: whole, or with the columns of the identity alone."""
    new: Tuples
    """Rows that came."""
    updated: Places
    """The messages that were updates; an update without an old row left its identity alone."""


@dataclass(frozen=True)
class Decoded:
    """What a fetch of messages says."""

    transactions: Transactions
    truncations: tuple[Truncated, ...]
    changes: tuple[RowChanges, ...]


class Decoder:
    """Reads fetches of one stream in turn; remembers the tables that it has described."""

    def __init__(self) -> None:
        self._relations: dict[int, Relation] = {}
        self._type_names: dict[int, str] = {}

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        """Read one fetch, which may end in the middle of a transaction."""
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        starts = np.cumsum(lengths) - lengths
        data = np.frombuffer(b"".join([*messages, _BEYOND]), np.uint8)
        kinds = data[starts]
        if (lengths < np.where(kinds == BEGIN, _BEGIN_BYTES, 1)).any():
            raise cut_off()
        fetch = _Fetch(data, starts, starts + lengths, kinds)
        truncates = (read_truncated(n, messages[n]) for n in _numbers(kinds == TRUNCATE))
        return Decoded(
            _transactions(fetch), tuple(truncates), tuple(self._changes(fetch, messages))
        )

    def _changes(self, fetch: _Fetch, messages: Sequence[bytes]) -> Iterator[RowChanges]:
        """Give the changes of each table; a new description ends what the old one holds for."""
        described = _numbers(np.isin(fetch.kinds, (RELATION, TYPE)))
        yield from self._changes_between(fetch, 0, min([*described, len(messages)]))
        for first, last in pairwise([*described, len(messages)]):
            self._describe(messages[first])
            yield from self._changes_between(fetch, first, last)

    def _describe(self, message: bytes) -> None:
        # The types of a table's columns are sent before the table.
        if message[0] == TYPE:
            oid, name = read_type(message)
            self._type_names[oid] = name
        else:
            relation = read_relation(message, self._type_names)
            self._relations[relation.oid] = relation

    def _changes_between(self, fetch: _Fetch, first: int, last: int) -> Iterator[RowChanges]:
        numbers = np.arange(first, last)
        numbers = numbers[np.isin(fetch.kinds[first:last], (INSERT, UPDATE, DELETE))]
        _require_within(fetch.starts[numbers] + 5, fetch.ends[numbers])
        oids = _int32_at(fetch.data, fetch.starts[numbers] + 1)
        for oid in np.unique(oids):
            relation = self._relations.get(int(oid))
            if relation is None:
                raise InternalError(f"a change of the table {oid}, which was not described")
            yield _row_changes(fetch, relation, numbers[oids == oid])


@dataclass(frozen=True)
class _Fetch:
    data: Bytes
    starts: Places
    ends: Places
    kinds: Bytes


def _row_changes(fetch: _Fetch, relation: Relation, numbers: Places) -> RowChanges:
    places = fetch.starts[numbers] + 5
    width = len(relation.columns)
    marked = fetch.data[places]
    has_old = (marked == _KEY) | (marked == _OLD)
    ends = fetch.ends[numbers]
    _require_within(places + 1, ends)
    old, after_old = _tuples(fetch.data, places[has_old] + 1, ends[has_old], width)
    new_places = places.copy()
    new_places[has_old] = after_old
    comes = fetch.kinds[numbers] != DELETE
    if not (fetch.data[new_places[comes]] == _NEW).all():
        raise InternalError(f'a change of "{relation.name}" without the row that it leads to')
    new, _ = _tuples(fetch.data, new_places[comes] + 1, ends[comes], width)
    return RowChanges(
        relation,
        Tuples(numbers[has_old], old),
        Tuples(numbers[comes], new),
        numbers[fetch.kinds[numbers] == UPDATE],
    )


def _tuples(
    data: Bytes, places: Places, ends: Places, width: int
) -> tuple[tuple[Values, ...], Places]:
    """Return the columns of the tuples at some places, and where each tuple ends.

    No value reaches beyond the end of its message: what follows there is another row.
    """
    _require_within(places + 2, ends)
    if not (_int16_at(data, places) == width).all():
        raise InternalError("a row has other columns than its table was described with")
    at = places + 2
    columns: list[Values] = []
    for _ in range(width):
        kinds = data[at]
        sized = kinds == _TEXT
        if not (sized | (kinds == _NULL) | (kinds == _UNCHANGED)).all():
            raise InternalError("a value is neither text nor NULL nor unchanged")
        lengths = np.zeros(len(at), np.int64)
        lengths[sized] = _int32_at(data, at[sized] + 1)
        columns.append(Values(data, at + np.where(sized, 5, 1), lengths, kinds))
        at = at + 1 + np.where(sized, 4 + lengths, 0)
        _require_within(at, ends)
    return tuple(columns), at


def _require_within(places: Places, ends: Places) -> None:
    if (places > ends).any():
        raise cut_off()


def _numbers(chosen: Flags) -> list[int]:
    return [int(number) for number in np.flatnonzero(chosen)]


def _int16_at(data: Bytes, places: Places) -> Places:
    return (data[places].astype(np.int64) << 8) | data[places + 1]


def _int32_at(data: Bytes, places: Places) -> Places:
    """Return unsigned numbers of four bytes; lengths and table ids are never negative."""
    high = (data[places].astype(np.int64) << 24) | (data[places + 1].astype(np.int64) << 16)
    return high | (data[places + 2].astype(np.int64) << 8) | data[places + 3]


def _int64_at(data: Bytes, places: Places) -> Places:
    return (_int32_at(data, places) << 32) | _int32_at(data, places + 4)


def _transactions(fetch: _Fetch) -> Transactions:
    messages = np.flatnonzero(fetch.kinds == BEGIN)
    at = fetch.starts[messages]
    return Transactions(
        messages,
        xids=_int32_at(fetch.data, at + 17),
        commit_lsns=_int64_at(fetch.data, at + 1),
        commit_times_us=_int64_at(fetch.data, at + 9) + _MICROSECONDS_TO_2000,
    )
