"""Tables that are read together must stand for one moment.

Where the tables as they are now do not agree, an earlier version of some of them may: the last
epoch at which all agree is read.  `agreement.py` says what it means to agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.catalog.store import Catalog
from streamtables.errors import NotFoundError, WouldMixError
from streamtables.positions import BaseFrontier, Frontier, InputId, Version
from streamtables.refresh.agreement import agree, last_agreed
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import stored_standing

MOVES_AT_FIRST = 1_000
MOVES_AT_MOST = 1_000_000
"""A table that moves each second hides the last move of one that moves each hour."""


@dataclass(frozen=True)
class Moment:
    """The versions at which some tables stand for one moment."""

    versions: Mapping[InputId, Version]
    epoch: int | None
    """The epoch, or None for the tables as they are now."""


def one_moment(
    tables: Sequence[StreamTable],
    snapshot: CatalogSnapshot,
    around: Surroundings,
    epoch: int | None = None,
) -> Moment:
    """Return the last moment at which all tables agree, or the given epoch.

    Raises:
        WouldMixError: the tables never stood for one moment, as far as is known.
    """
    drains = Drains(around.catalog, snapshot)
    if epoch is not None:
        return _at_epoch(tables, around.catalog, drains, epoch)
    now = {table.id: _as_now(table, snapshot, around) for table in tables}
    if drains.agree(move.base_frontier for move in now.values()):
        return _moment(now, None)
    for limit in (MOVES_AT_FIRST, MOVES_AT_MOST):
        moves = around.catalog.epoch_moves(list(now), limit=limit)
        if (found := last_agreed(moves, now, drains.agree)) is not None:
            return _moment(found[1], found[0])
        if len(moves) < limit:
            break
    raise _would_mix(tables)


@dataclass(frozen=True)
class Drains:
    """Knows whether versions of mirrors belong to one drain of their database."""

    catalog: Catalog
    snapshot: CatalogSnapshot

    def agree(self, bases: Iterable[BaseFrontier]) -> bool:
        """Whether one set of pins exists at which tables with these base frontiers are current."""
        return agree(bases, self.snapshot.definitions.mirrors, self._are_drained_together)

    def _are_drained_together(self, versions: Frontier) -> bool:
        captures = self.catalog.captures()
        by_database: dict[str, list[InputId]] = {}
        for key in versions:
            by_database.setdefault(captures[key].database, []).append(key)
        return all(
            self.catalog.has_drain(database, versions.restricted_to(frozenset(keys)))
            for database, keys in by_database.items()
        )


def _moment(moves: Mapping[InputId, EpochMove], epoch: int | None) -> Moment:
    return Moment({key: move.delta_version for key, move in moves.items()}, epoch)


def _as_now(table: StreamTable, snapshot: CatalogSnapshot, around: Surroundings) -> EpochMove:
    standing = stored_standing(table, snapshot, around)
    return EpochMove(table.id, standing.version, standing.base_frontier)


def _at_epoch(
    tables: Sequence[StreamTable], catalog: Catalog, drains: Drains, epoch: int
) -> Moment:
    last = catalog.last_epoch()
    if not 1 <= epoch <= last:
        raise NotFoundError(f"there is no epoch {epoch}", hint=f"The last one is {last}.")
    found = {table.id: catalog.epoch_moves([table.id], epoch, limit=1) for table in tables}
    for table in tables:
        if not found[table.id]:
            raise NotFoundError(f'stream table "{table.name}" is not in epoch {epoch}')
    moves = {key: rows[0] for key, rows in found.items()}
    if not drains.agree(move.base_frontier for move in moves.values()):
        raise _would_mix(tables, f"In epoch {epoch} they")
    return _moment(moves, epoch)


def _would_mix(tables: Sequence[StreamTable], who: str = "They") -> WouldMixError:
    names = ", ".join(f'"{table.name}"' for table in tables)
    return WouldMixError(
        f"the tables {names} do not stand for one moment",
        detail=f"{who} have consumed different versions of a source that they share.",
        hint="Run refresh_all(), then read again.",
    )
