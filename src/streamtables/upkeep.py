"""Tidy tables: the part of the interface that keeps their files few."""

from __future__ import annotations

from collections.abc import Iterator

from streamtables.catalog import Catalog
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable
from streamtables.errors import NotFoundError
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.upkeep import Kept


class Tidying:
    """The methods of an open warehouse that are about the files of its tables."""

    _catalog: Catalog
    _around: Surroundings

    def maintain(self, name: str | None = None) -> list[Kept]:
        """Tidy up the files of one table or of all, where that is due: no row changes.

        Logs are written in one file, small files are put together, and files that no version within
        the retention needs are removed.  `run` does the same while nothing else is to do.
        """
        snapshot = self._catalog.snapshot()
        tables = [item for item in _own(snapshot) if name in (None, item.name)]
        if name is not None and not tables:
            raise NotFoundError(
                f'there is no stream table "{name}"',
                hint="Only stream tables, and mirrors of tables and files, are tidied up.",
            )
        upkeep, now = self._around.upkeep, self._around.clock()
        definitions, standings = snapshot.definitions, snapshot.standings
        return [
            done
            for item in tables
            for done in upkeep.keep(item, definitions, standings, now, remove=True)
        ]


def _own(snapshot: CatalogSnapshot) -> Iterator[StreamTable | Source]:
    """Return the tables that this package writes."""
    yield from snapshot.stream_tables.values()
    yield from (item for item in snapshot.sources.values() if item.is_mirror)
