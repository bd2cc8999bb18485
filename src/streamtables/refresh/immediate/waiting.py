"""Reading one's own writes: which position a table has to include, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from streamtables.catalog import Catalog
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable
from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import ConfigError
from streamtables.positions import Frontier, InputId, Version
from streamtables.refresh.surroundings import Surroundings
from streamtables.sources.postgres.snapshot import Snapshot

_DRAINS_WITHIN = timedelta(days=1)

Position = int | str | Mapping[str, int | str] | None


@dataclass(frozen=True)
class Goal:
    """What a table has to include: versions of Delta sources, transactions of databases."""

    versions: Frontier
    transactions: Mapping[str, int]
    """For each database the transaction whose changes must be in."""
    roots: frozenset[InputId]


def goal_of(
    table: StreamTable, position: Position, snapshot: CatalogSnapshot, around: Surroundings
) -> Goal:
    """Read a position as a person gives it."""
    roots = _roots(table, snapshot)
    wanted: dict[Source, int | str | None]
    if isinstance(position, Mapping):
        wanted = {_root(name, roots, table): value for name, value in position.items()}
    elif position is None:
        wanted = {source: None for source in roots.values()}
        if captured := [source.name for source in roots.values() if source.kind == "postgres"]:
            raise ConfigError(
                f'"{table.name}" reads "{captured[0]}" from PostgreSQL: its position is needed',
                hint="Give what SELECT pg_current_xact_id() said in the transaction that wrote.",
            )
    else:
        wanted = {source: position for source in roots.values() if source.kind == "postgres"}
        if not wanted:
            raise ConfigError(
                f'"{table.name}" reads nothing from PostgreSQL',
                hint='Give a version of each source: {"orders": 12}.',
            )
    captures = around.catalog.captures()
    versions: dict[InputId, Version] = {}
    transactions: dict[str, int] = {}
    for source, value in wanted.items():
        if source.kind == "postgres":
            transactions[captures[source.id].database] = _number(value, source.name)
        else:
            versions[source.id] = _version(source, value, around)
    return Goal(Frontier(versions), transactions, frozenset(source.id for source in roots.values()))


def is_reached(goal: Goal, table: StreamTable, snapshot: CatalogSnapshot, catalog: Catalog) -> bool:
    """Whether a table includes what it has to."""
    standing = snapshot.standings.get(table.id)
    if standing is None or not standing.base_frontier.covers(goal.versions):
        return False
    return all(
        _includes(standing.base_frontier, database, transaction, goal.roots, catalog)
        for database, transaction in goal.transactions.items()
    )


def _includes(
    base: Frontier, database: str, transaction: int, roots: frozenset[InputId], catalog: Catalog
) -> bool:
    last = catalog.last_drain(database)
    if last is None:
        return False
    wanted = np.array([transaction], np.int64)
    drains = catalog.recent_drains(database, last.at - _DRAINS_WITHIN)
    return any(
        Snapshot.parse(drain.position.snapshot).sees(wanted)[0]
        and base.covers(drain.versions.restricted_to(roots))
        for drain in (last, *drains)
    )


def _roots(table: StreamTable, snapshot: CatalogSnapshot) -> dict[str, Source]:
    tables = (table, *snapshot.definitions.ancestors(table.id))
    read = {item.id for reader in tables for item in reader.inputs if item.kind == "source"}
    return {snapshot.sources[key].name.lower(): snapshot.sources[key] for key in sorted(read)}


def _root(name: str, roots: Mapping[str, Source], table: StreamTable) -> Source:
    if name.lower() not in roots:
        raise ConfigError(
            f'"{table.name}" does not stand on a source "{name}"',
            detail=f"Its sources: {', '.join(source.name for source in roots.values())}.",
        )
    return roots[name.lower()]


def _version(source: Source, value: int | str | None, around: Surroundings) -> Version:
    if source.kind == "files" and value is None:
        # Files that are there and not taken yet belong to what is there now.
        ahead = around.folders.waiting([source]).get(source.id)
        if ahead is not None:
            return ahead
    head = DeltaLog(source.location).head() or Version(0)
    version = head if value is None else Version(_number(value, source.name))
    if version > head:
        raise ConfigError(
            f'source "{source.name}" has no version {version} yet',
            detail=f"Its last one is {head}.",
        )
    return version


def _number(value: int | str | None, name: str) -> int:
    text = str(value).strip()
    if not text.isdecimal():
        raise ConfigError(
            f'"{value}" is no position of "{name}"',
            hint="Give a version, or what SELECT pg_current_xact_id() said.",
        )
    return int(text)
