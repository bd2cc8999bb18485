"""Tables that are read together must stand for one moment.

They do when one set of pins exists at which each of them is current: they agree on the roots that
they share, and the mirrors of one PostgreSQL database are all at one drain of it.  Where the tables
as they are now do not agree, an earlier version of some of them may: the last epoch at which all
agree is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.catalog.store import Catalog
from streamtables.errors import NotFoundError, WouldMixError
from streamtables.positions import BaseFrontier, Frontier, InputId, Version, next_base_frontier
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import stored_standing

Moves = Mapping[InputId, EpochMove]


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
    if drains.agree(now.values()):
        return Moment({key: move.delta_version for key, move in now.items()}, None)
    moves = around.catalog.epoch_moves([table.id for table in tables])
    for number in dict.fromkeys(move.epoch for move in moves):
        found = moves_at(moves, number)
        if len(found) == len(tables) and drains.agree(found.values()):
            return Moment({key: move.delta_version for key, move in found.items()}, number)
    raise _would_mix(tables)


def moves_at(moves: Iterable[EpochMove], epoch: int) -> Moves:
    """Return the last move of each table up to an epoch, of moves that come newest first."""
    found: dict[InputId, EpochMove] = {}
    for move in moves:
        if move.epoch <= epoch:
            found.setdefault(move.stream_table_id, move)
    return found


@dataclass(frozen=True)
class Drains:
    """Knows whether versions of mirrors belong to one drain of their database."""

    catalog: Catalog
    snapshot: CatalogSnapshot

    def agree(self, moves: Iterable[EpochMove]) -> bool:
        """Whether one set of pins exists at which every move is current."""
        joined = next_base_frontier([move.base_frontier for move in moves], Frontier.EMPTY)
        return joined is not None and self._are_drained_together(joined)

    def _are_drained_together(self, joined: BaseFrontier) -> bool:
        sources = self.snapshot.sources
        mirrors = [key for key in joined if key in sources and sources[key].kind == "postgres"]
        if len(mirrors) < 2:
            return True
        captures = self.catalog.captures()
        by_database: dict[str, list[InputId]] = {}
        for key in mirrors:
            by_database.setdefault(captures[key].database, []).append(key)
        return all(
            self.catalog.has_drain(database, joined.restricted_to(frozenset(keys)))
            for database, keys in by_database.items()
        )


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
    if not drains.agree(moves.values()):
        raise _would_mix(tables, f"In epoch {epoch} they")
    return Moment({key: move.delta_version for key, move in moves.items()}, epoch)


def _would_mix(tables: Sequence[StreamTable], who: str = "They") -> WouldMixError:
    names = ", ".join(f'"{table.name}"' for table in tables)
    return WouldMixError(
        f"the tables {names} do not stand for one moment",
        detail=f"{who} have consumed different versions of a source that they share.",
        hint="Run refresh_all(), then read again.",
    )
