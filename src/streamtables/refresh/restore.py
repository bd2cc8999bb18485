"""A restore: a backed-up catalog is put back, and made to say what the tables' own logs say.

All of it happens in a copy beside the target, which then takes its place: a restore that fails
leaves no catalog that was not there before.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from streamtables.catalog.copies import copy_rows, copy_to_file, forget_leader
from streamtables.catalog.database import Database, database_at, default_location
from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.sqlite_copy import copy_sqlite
from streamtables.catalog.store import Catalog
from streamtables.catalog.upgrade import open_database
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.file_trees import copy_tree, replace_tree
from streamtables.errors import AlreadyExistsError, StreamTablesError
from streamtables.positions import OF_NO_QUERY, Frontier, InputId, Standing, Version
from streamtables.refresh.backup import relative_to
from streamtables.refresh.manifest import CATALOG, Manifest, read_manifest
from streamtables.refresh.restored import Judgement, judge

REPLACED = "catalog.db.replaced"
_BESIDE = "restoring-"


@dataclass(frozen=True)
class RestoredTable:
    """What a restore found of one table or captured source."""

    table: str
    how: str
    text: str


def restore_backup(
    folder: Path, warehouse: Path, now: datetime, *, catalog: str | None = None, force: bool = False
) -> list[RestoredTable]:
    """Put a backup into a warehouse, and say how each table stands to it."""
    manifest = read_manifest(folder)
    target = catalog or default_location(warehouse)
    taken = _is_there(target)
    places = _folders(manifest, folder, warehouse)
    if not force:
        _refuse_taken(target if taken else None, places)
    home = default_location(warehouse).parent
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{_BESIDE}*"):
        # A restore that was killed left it; nobody else has the warehouse open.
        shutil.rmtree(left, ignore_errors=True)
    for source, place in places.items():
        (replace_tree if force else copy_tree)(source, place)
    with tempfile.TemporaryDirectory(dir=home, prefix=_BESIDE) as beside:
        working = Path(beside) / CATALOG
        copy_sqlite(folder / CATALOG, working)
        with Catalog.open(working) as opened:
            found = _made_true(opened, manifest, warehouse, now)
        _put_in_place(working, target, home, taken=taken)
    return found


def _is_there(target: str | Path) -> bool:
    database = database_at(target)
    if database.file is not None:
        database.close()
        return database.file.exists()
    database.close()
    opened = Catalog.open(target)
    with opened:
        return bool(opened.generation())


def _folders(manifest: Manifest, folder: Path, warehouse: Path) -> dict[Path, Path]:
    """Return the table folders of a backup, and where each goes."""
    found = {}
    for item in manifest.tables if manifest.with_tables else ():
        inside = relative_to(item.location, Path(manifest.warehouse))
        if inside is not None and (folder / inside / "_delta_log").is_dir():
            found[folder / inside] = warehouse.absolute() / inside
    return found


def _refuse_taken(target: str | Path | None, places: dict[Path, Path]) -> None:
    taken = [place for place in places.values() if place.exists()]
    if target is None and not taken:
        return
    what = "a catalog" if target is not None else f'a table at "{taken[0]}"'
    raise AlreadyExistsError(
        f"there is {what} already where the backup would go",
        hint="Restore into another warehouse, or use force, which keeps the catalog that it "
        f"replaces as {REPLACED}.",
    )


def _made_true(
    catalog: Catalog, manifest: Manifest, warehouse: Path, now: datetime
) -> list[RestoredTable]:
    forget_leader(catalog._database)
    _relocate(catalog, Path(manifest.warehouse), warehouse)
    reason = f"the warehouse was restored from the backup of {manifest.made_at}"
    copied = set(catalog.copy_captured(reason))
    found = [*_judged_tables(catalog, now)]
    for source in catalog.sources():
        if source.id in copied:
            found.append(RestoredTable(source.name, "copied", "its next drain copies it anew"))
        else:
            found += _judged_source(catalog, source, now)
    return found


def _relocate(catalog: Catalog, old: Path, warehouse: Path) -> None:
    new = warehouse.absolute()
    places: dict[InputId, str] = {}
    items: list[Source | StreamTable] = [*catalog.stream_tables(internal=True), *catalog.sources()]
    for item in items:
        inside = relative_to(item.location, old)
        if inside is None or old == new:
            continue
        # Tables of others move only if they were moved along.
        others = isinstance(item, Source) and not item.is_mirror
        if not others or (new / inside).exists():
            places[item.id] = str(new / inside)
    if places:
        catalog.relocate(places)


def _judged_tables(catalog: Catalog, now: datetime) -> list[RestoredTable]:
    snapshot = catalog.snapshot()
    answers = []
    moved: dict[InputId, Judgement] = {}
    for table in snapshot.stream_tables.values():
        known = snapshot.standings.get(table.id)
        found = judge(table.location, table.id, known, now)
        answers.append(RestoredTable(table.name, found.how, found.text))
        if found.how == "damaged":
            catalog.set_state(table.id, "damaged", found.text, at=now)
        elif found.how != "equal":
            catalog.put_standing(table.id, found.standing)
        if found.how in ("behind", "missing", "damaged"):
            moved[table.id] = found
    for key, found in moved.items():
        _rebuild_readers(catalog, key, found, now)
    return answers


def _rebuild_readers(catalog: Catalog, key: InputId, found: Judgement, now: datetime) -> None:
    """Mark those who consumed versions of a table that are no longer there."""
    snapshot = catalog.snapshot()
    at = found.standing.version if found.standing else Version(-1)
    name = snapshot.stream_tables[key].name
    for reader in snapshot.definitions.direct_readers(key):
        standing = snapshot.standings.get(reader.id)
        consumed = standing.frontier.get(key) if standing else None
        lost = consumed is not None and (consumed > at or found.other_history)
        if lost and standing is not None:
            reason = f'"{name}" was restored to another version than was read'
            _rebuild(catalog, reader, standing, reason, now)


def _rebuild(
    catalog: Catalog, reader: StreamTable, standing: Standing, reason: str, now: datetime
) -> None:
    """Have a table rebuilt by its next refresh; one that was stopped stays so until resumed."""
    if reader.state in ("paused", "suspended"):
        # It stands for no query that it could have, so whatever comes next is a full refresh.
        catalog.put_standing(reader.id, replace(standing, query_hash=OF_NO_QUERY))
    elif reader.state != "damaged":
        catalog.set_state(reader.id, "needs-rebuild", reason, at=now)


def _judged_source(catalog: Catalog, source: Source, now: datetime) -> list[RestoredTable]:
    """Notice a source that stands before what was read of it; its readers have to be rebuilt."""
    try:
        head = DeltaLog(source.location).head()
    except (OSError, StreamTablesError) as error:
        return [RestoredTable(source.name, "unreadable", f"it cannot be read: {error}")]
    if head is None:
        return [RestoredTable(source.name, "missing", "bring it back before the next refresh")]
    snapshot = catalog.snapshot()
    ahead = False
    for reader in snapshot.definitions.dependants(source.id):
        standing = snapshot.standings.get(reader.id)
        if standing is None or standing.base_frontier.get(source.id, Version(-1)) <= head:
            continue
        ahead = True
        # Pins are never behind a base frontier, so it must not name what is not there.
        frontiers = (standing.frontier, standing.base_frontier)
        frontier, base = (_capped(item, source.id, head) for item in frontiers)
        standing = replace(standing, frontier=frontier, base_frontier=base)
        catalog.put_standing(reader.id, standing)
        reason = f'source "{source.name}" was restored to an earlier version than was read'
        _rebuild(catalog, reader, standing, reason, now)
    if not ahead:
        return []
    text = f"it ends at version {head}, before what was read; its readers are rebuilt"
    return [RestoredTable(source.name, "behind", text)]


def _capped(frontier: Frontier, key: InputId, head: Version) -> Frontier:
    return frontier.with_version(key, head) if frontier.get(key, head) > head else frontier


def _put_in_place(working: Path, target: str | Path, home: Path, *, taken: bool) -> None:
    if isinstance(target, str) and database_at(target).file is None:
        _put_on_server(working, target, home, taken=taken)
        return
    database = database_at(target)
    database.close()
    assert database.file is not None
    file = database.file
    file.parent.mkdir(parents=True, exist_ok=True)
    if taken:
        # Moved and not copied: a catalog that cannot be read is why people restore.
        kept = _free(home / REPLACED)
        for suffix in ("-wal", "-shm", ""):
            if (part := file.with_name(file.name + suffix)).exists():
                part.rename(kept.with_name(kept.name + suffix))
    ready = working.with_name("ready.db")
    copy_sqlite(working, ready)
    os.replace(ready, file)


def _put_on_server(working: Path, target: str, home: Path, *, taken: bool) -> None:
    server: Database = open_database(target)
    source = open_database(working)
    try:
        if taken:
            copy_to_file(server, _free(home / REPLACED))
        copy_rows(source, server)
    finally:
        source.close()
        server.close()


def _free(file: Path) -> Path:
    """Return a name that is not taken: nothing that was kept before is lost."""
    number, found = 1, file
    while found.exists():
        number += 1
        found = file.with_name(f"{file.name}-{number}")
    return found
