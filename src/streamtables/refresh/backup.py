"""A backup: the catalog as it is at one moment, and where every table stood then.

The catalog is copied first, and the manifest is read from the copy.  A table only moves forward, so
its version in the copy is in its log whatever is refreshed meanwhile.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.store import Catalog
from streamtables.catalog.upgrade import VERSIONS
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.describe import describe
from streamtables.engine.table_copy import copy_version
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import ConfigError, EnvironmentFaultError, StreamTablesError
from streamtables.positions import Frontier, InputId, Version
from streamtables.refresh.manifest import CATALOG, BackedUp, Manifest, digest


def make_backup(
    catalog: Catalog,
    folder: Path,
    warehouse: Warehouse,
    *,
    program: str,
    now: datetime,
    with_tables: bool = False,
) -> Manifest:
    """Write a backup into a folder that is new or empty."""
    _require_empty(folder)
    catalog.copy_to(folder / CATALOG)
    with Catalog.open(folder / CATALOG) as copied:
        snapshot = copied.snapshot()
        drained = {k: v for d in copied.last_drains().values() for k, v in d.versions.items()}
    tables = tuple(_backed_up(snapshot, drained))
    if with_tables:
        for item in tables:
            _copy(item, folder, warehouse, snapshot)
    manifest = Manifest(
        made_at=now.isoformat(),
        program=program,
        catalog_revision=VERSIONS[-1],
        catalog_sha256=digest(folder / CATALOG),
        warehouse=warehouse.inside(),
        with_tables=with_tables,
        tables=tables,
    )
    manifest.write(folder)
    return manifest


def _require_empty(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise EnvironmentFaultError(
            f'the folder "{folder}" of the backup cannot be made', detail=f"{error.strerror}."
        ) from error
    if taken:
        raise ConfigError(
            f'the folder "{folder}" is not empty',
            hint="Name a folder that is new or empty: each backup has its own.",
        )


def _backed_up(snapshot: CatalogSnapshot, drained: dict[InputId, Version]) -> list[BackedUp]:
    found = []
    for table in snapshot.stream_tables.values():
        standing = snapshot.standings.get(table.id)
        version = int(standing.version) if standing else None
        frontier = (standing.frontier if standing else Frontier.EMPTY).to_dict()
        where, made = table.location, _table_id(table.location)
        found.append(BackedUp(table.id, table.name, "stream-table", where, made, version, frontier))
    for source in snapshot.sources.values():
        captured = source.kind == "postgres"
        head = drained.get(source.id) if captured else _head(source.location)
        kind, made = "mirror" if source.is_mirror else "source", source.delta_table_id
        version = None if head is None else int(head)
        found.append(BackedUp(source.id, source.name, kind, source.location, made, version, {}))
    return found


def _table_id(location: str) -> str:
    try:
        return describe(location).table_id
    except StreamTablesError:
        # Not filled yet, or gone: there is nothing to be recognised by.
        return ""


def _head(location: str) -> Version | None:
    try:
        return DeltaLog(location).head()
    except (OSError, StreamTablesError):
        # Somebody else's store need not answer for a backup of ours.
        return None


def _copy(item: BackedUp, folder: Path, warehouse: Warehouse, snapshot: CatalogSnapshot) -> None:
    if item.kind == "source" or item.version is None:
        return
    inside = None if warehouse.uri else relative_to(item.location, warehouse.home)
    if inside is None:
        raise ConfigError(
            f'the table "{item.name}" is not in the warehouse, but at "{item.location}"',
            hint="Make the backup without the tables, and copy them by other means.",
        )
    read = [
        standing.frontier[InputId(item.id)]
        for standing in snapshot.standings.values()
        if item.id in standing.frontier
    ]
    version = Version(item.version)
    copy_version(item.location, version, folder / inside, since=min([*read, version]))


def relative_to(location: str, warehouse: Path) -> Path | None:
    """Return the place of a table inside a warehouse; None where it lies elsewhere."""
    path, root = Path(location), warehouse.absolute()
    return path.relative_to(root) if path.is_relative_to(root) else None
