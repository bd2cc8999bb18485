"""Backup and restore: the part of the interface that is about copies of a warehouse."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import streamtables
from streamtables.catalog import Catalog
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import ConfigError
from streamtables.refresh.backup import make_backup
from streamtables.refresh.manifest import Manifest
from streamtables.refresh.restore import RestoredTable, restore_backup
from streamtables.refresh.surroundings import Surroundings


class Backups:
    """The methods of an open warehouse that are about copies of it."""

    place: Warehouse
    _catalog: Catalog
    _around: Surroundings

    def backup(self, folder: str | Path, *, with_tables: bool = False) -> Manifest:
        """Copy the catalog, as it is at one moment, and say where every table stands then.

        With `with_tables` the files of those versions are copied too.  Others may go on working.
        """
        return make_backup(
            self._catalog,
            Path(folder),
            self.place,
            program=streamtables.__version__,
            now=self._around.clock(),
            with_tables=with_tables,
        )


def restore(
    folder: str | Path, warehouse: str | Path, *, catalog: str | None = None, force: bool = False
) -> list[RestoredTable]:
    """Put a backup into a warehouse that nobody has open; say how each table stands to it."""
    place = Warehouse.at(warehouse)
    if place.uri is not None:
        raise ConfigError(
            f'a backup is not restored into "{place.shown}", which is in a store',
            hint="Restore the database of the catalog, and the versions of the store, by their own "
            "means; `repair` then makes true what differs.",
        )
    return restore_backup(Path(folder), place.home, datetime.now(UTC), catalog=catalog, force=force)
