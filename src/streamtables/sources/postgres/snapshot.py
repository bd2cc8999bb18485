"""Positions of a PostgreSQL database: what a snapshot sees, and places in the log.

A snapshot is written `xmin:xmax:xip,xip…`: it sees every transaction below `xmin`, none from `xmax`
on, and between them all but the listed ones, which were still open.  Ids have 64 bits; the log
itself has only the lower 32 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamtables.errors import InternalError

Xids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WRAP = 1 << 32
_LONG_HEADER, _SHORT_HEADER = 40, 24


class Position(NamedTuple):
    """Where a drain ends: what it sees, and a place in the log after all that it sees."""

    snapshot: str
    lsn: str


@dataclass(frozen=True)
class Snapshot:
    """Which transactions count as done."""

    xmin: int
    xmax: int
    open: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Snapshot:
        """Read what `pg_current_snapshot()` prints."""
        try:
            xmin, xmax, listed = text.split(":")
            return cls(int(xmin), int(xmax), tuple(int(xid) for xid in listed.split(",") if xid))
        except ValueError:
            raise InternalError(f'"{text}" is not a snapshot') from None

    def sees(self, xids: Xids) -> Flags:
        """Whether each transaction, by its 64-bit top-level id, is done in this snapshot."""
        settled = (xids < self.xmax) & ~np.isin(xids, np.array(self.open, np.int64))
        return settled | (xids < self.xmin)


def widen(xids: npt.NDArray[np.integer], near: int) -> Xids:
    """Return the 64-bit ids, of those with these lower 32 bits, that are nearest to `near`.

    The server never lets ids in use be further apart than half of the 32 bits.
    """
    wide = (near - near % _WRAP) + xids.astype(np.int64)
    wide = np.where(wide - near > _WRAP // 2, wide - _WRAP, wide)
    wide = np.where(near - wide > _WRAP // 2, wide + _WRAP, wide)
    return np.asarray(np.where(wide < 0, wide + _WRAP, wide), np.int64)


def lsn_number(text: str) -> int:
    """Return a place in the log, written as `16/B374D848`, as a number of bytes."""
    high, low = text.split("/")
    return (int(high, 16) << 32) | int(low, 16)


def lsn_text(number: int) -> str:
    """Return a place in the log as the server writes it."""
    return f"{number >> 32:X}/{number & 0xFFFFFFFF:X}"


def end_of_log(insert_at: int, *, block: int, segment: int) -> int:
    """Return where the last record ends, when the next one would begin at `insert_at`.

    The two differ at the start of a page: the next record begins behind the page's header, which
    is not yet written, so the server would never say that it has flushed that far.
    """
    header = _LONG_HEADER if insert_at % segment < block else _SHORT_HEADER
    return insert_at - header if insert_at % block == header else insert_at
