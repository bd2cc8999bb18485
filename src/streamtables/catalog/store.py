"""The catalog: what exists and where it stands.

    definition_changes.py   sources and stream tables: add, alter, drop
    captures.py             PostgreSQL tables as sources, and drains
    source_heads.py         what the histories of Delta sources are recognised by
    file_folders.py         folders of files as sources
    library_changes.py      views and functions: add, replace, drop
    changes_together.py     several stream tables in one transaction
    standings.py            where each stream table stands
    refresh_records.py      the history of refreshes
    cancellations.py        refreshes that somebody asked to stop
    recent.py               what happened lately in all tables
    leases.py               who leads
    rules.py                what people say holds tables back
    events.py               what people should know
    epochs.py               which versions belong together
    plan_records.py         compiled plans
    write_locks.py          who is writing what
    snapshots.py            versions that a label keeps
    publications.py         whom changes are kept for
    restoring.py            what a restore changes

This file opens the catalog and reads definitions.  They are cached until the generation moves, so
a round in which nothing was defined costs one statement.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import select

from streamtables.catalog.cancellations import Cancellations
from streamtables.catalog.captures import Captures
from streamtables.catalog.changes_together import TogetherChanges
from streamtables.catalog.database import Database
from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.epochs import Epochs
from streamtables.catalog.events import Events
from streamtables.catalog.file_folders import FileFolders
from streamtables.catalog.leases import Leases
from streamtables.catalog.library_changes import LibraryChanges
from streamtables.catalog.load_definitions import load_definitions
from streamtables.catalog.models import Function, Source, StreamTable, View
from streamtables.catalog.plan_records import PlanRecords
from streamtables.catalog.publications import Publications
from streamtables.catalog.recent import RecentActivity
from streamtables.catalog.refresh_records import RefreshRecords
from streamtables.catalog.restoring import Restoring
from streamtables.catalog.rules import SchedulingRules
from streamtables.catalog.schema import catalog_meta
from streamtables.catalog.snapshots import Snapshots
from streamtables.catalog.source_heads import SourceHeads
from streamtables.catalog.standings import Standings, load_standings
from streamtables.catalog.time_zone import TimeZones
from streamtables.catalog.upgrade import open_database
from streamtables.catalog.write_locks import WriteLocks
from streamtables.positions import InputId

_GENERATION = select(catalog_meta.c.generation)


class Catalog(
    Captures,
    FileFolders,
    SchedulingRules,
    Publications,
    LibraryChanges,
    TogetherChanges,
    Standings,
    RefreshRecords,
    Cancellations,
    RecentActivity,
    Leases,
    Events,
    Epochs,
    PlanRecords,
    WriteLocks,
    Snapshots,
    SourceHeads,
    Restoring,
    TimeZones,
):
    """An open catalog; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Replaced as a whole, never changed, so threads need no lock to read it.
        self._cached: Definitions | None = None

    @classmethod
    def open(cls, location: str | Path) -> Catalog:
        """Open the catalog at a path or database URL; create or upgrade it where needed."""
        return cls(open_database(location))

    def copy_to(self, file: Path) -> None:
        """Write the whole catalog, as it is at one moment, to a file that is not there yet."""
        from streamtables.catalog.copies import copy_to_file

        copy_to_file(self._database, file)

    def close(self) -> None:
        """Close the catalog's connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def queries(self) -> int:
        """How many statements were sent to the database since the catalog was opened."""
        return self._database.queries

    def generation(self) -> int:
        """Return the number that moves with every change of a definition."""
        with self._database.reading() as connection:
            return int(connection.execute(_GENERATION).scalar_one())

    def snapshot(self) -> CatalogSnapshot:
        """Return all definitions and standings as they are at one moment."""
        while True:
            with self._database.reading() as connection:
                generation, standings = load_standings(connection)
                if self._cached is None or self._cached.generation != generation:
                    self._cached = load_definitions(connection)
                definitions = self._cached
            # A definition may have changed between the two statements; then look again.
            if definitions.generation == generation:
                return CatalogSnapshot(definitions, standings)

    def sources(self) -> tuple[Source, ...]:
        """Return all sources, by name."""
        return tuple(self._definitions().sources.values())

    def source(self, name_or_id: str) -> Source:
        """Return a source; an unknown one is an error that names the closest."""
        return self._definitions().source(name_or_id)

    def stream_tables(self, *, internal: bool = False) -> tuple[StreamTable, ...]:
        """Return all stream tables, by name; internal ones only where asked for."""
        tables = self._definitions().stream_tables.values()
        return tuple(table for table in tables if internal or not table.is_internal)

    def stream_table(self, name_or_id: str) -> StreamTable:
        """Return a stream table; an unknown one is an error that names the closest."""
        return self._definitions().stream_table(name_or_id)

    def views(self) -> tuple[View, ...]:
        """Return all views, by name."""
        return tuple(self._definitions().views.values())

    def functions(self) -> tuple[Function, ...]:
        """Return all functions, by name."""
        return tuple(self._definitions().functions.values())

    def dependants(self, input_id: InputId) -> tuple[StreamTable, ...]:
        """Return all stream tables that stand on an input, each after those that it reads."""
        return self._definitions().dependants(input_id)

    def _definitions(self) -> Definitions:
        with self._database.reading() as connection:
            generation = connection.execute(_GENERATION).scalar_one()
            cached = self._cached
            if cached is None or cached.generation != generation:
                cached = self._cached = load_definitions(connection)
        return cached
