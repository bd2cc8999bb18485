"""Which versions of tables stand for one moment, decided from positions alone.

Tables do when one set of pins exists at which each of them is current: they agree on the roots that
they share, and the mirrors of one PostgreSQL database are all at one drain of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from streamtables.catalog.scheduler_models import EpochMove
from streamtables.positions import BaseFrontier, Frontier, InputId, Pins, next_base_frontier

DrainedTogether = Callable[[Frontier], bool]
"""Whether for each database some recorded drain names just these versions of its mirrors."""


def agree(
    bases: Iterable[BaseFrontier],
    mirrors: frozenset[InputId],
    drained_together: DrainedTogether,
) -> bool:
    """Whether one set of pins exists at which tables with these base frontiers are current."""
    joined = next_base_frontier(bases, Frontier.EMPTY)
    if joined is None:
        return False
    versions = joined.restricted_to(mirrors)
    return len(versions) < 2 or drained_together(versions)


def next_moment(
    upstream: Iterable[BaseFrontier],
    pins: Pins,
    *,
    direct: frozenset[InputId],
    mirrors: frozenset[InputId],
    now: BaseFrontier | None,
) -> BaseFrontier | None:
    """Return what a table would stand for after a refresh at `pins`; None where it would mix.

    `direct` are the roots that it reads itself, `now` is what it stands for.  That the versions of
    roots agree is not enough for mirrors: two inputs may read different ones.  What stands where
    it stood does not mix anything.
    """
    found = next_base_frontier(upstream, pins.restricted_to(direct))
    if found is None or found == now:
        return found
    mixes = any(found[key] != pins.get(key) for key in found if key in mirrors)
    return None if mixes else found


def last_agreed(
    moves: Sequence[EpochMove],
    tables: Iterable[InputId],
    agrees: Callable[[Iterable[BaseFrontier]], bool],
) -> tuple[int, dict[InputId, EpochMove]] | None:
    """Return the last epoch at which all tables agree, and the move of each that counts in it.

    `moves` are those of the tables, newest first, and may end before the first one.  In an epoch
    in which a table did not move, its last move before counts.
    """
    left: dict[InputId, deque[EpochMove]] = {table: deque() for table in tables}
    for move in moves:
        left[move.stream_table_id].append(move)
    for epoch, of_this_epoch in groupby(moves, key=lambda move: move.epoch):
        if not all(left.values()):
            return None
        found = {table: past[0] for table, past in left.items()}
        if agrees(move.base_frontier for move in found.values()):
            return epoch, found
        for move in of_this_epoch:
            left[move.stream_table_id].popleft()
    return None
