"""Bring a catalog to the version of this release when it is opened.

Nothing is changed unless the catalog is one that this release knows: a newer one, another
program's database or a damaged file is refused as it is.  A file is copied before it is changed,
and the copy stays.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, inspect, text

from streamtables.catalog.database import SCHEMA, Database, database_at
from streamtables.catalog.sqlite_copy import copy_sqlite
from streamtables.errors import CatalogUnreadableError, TransientError

# The migrations, oldest first. A test compares them with the files in `migrations/versions`.
VERSIONS = tuple(f"{number:04d}" for number in range(1, 14))
VERSION_TABLE = "alembic_version"

_MIGRATIONS = Path(__file__).parent / "migrations"
_ADVISORY_LOCK = 0x57_AB_1E
_SWITCH_SECONDS = 10.0

_log = logging.getLogger("streamtables.catalog")

# Alembic keeps the running migration in module globals.
_one_at_a_time = Lock()


def open_database(location: str | Path) -> Database:
    """Return the catalog's database, created or brought up to date where needed."""
    database = database_at(location)
    if database.file:
        _make_folder(database.file.parent)
    try:
        with database.reading() as connection:
            version = _checked_version(connection, database)
        if version != VERSIONS[-1]:
            _bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise CatalogUnreadableError(
            f'cannot create the folder "{folder}" of the catalog',
            detail=f"{exc.strerror}.",
            hint="Choose a folder that you may write to, or name a database for the catalog.",
        ) from exc


def _checked_version(connection: Connection, database: Database) -> str | None:
    # One look at all names: another process may be making them, and they appear at once.
    names = inspect(connection).get_table_names(schema=None if database.is_sqlite else SCHEMA)
    if VERSION_TABLE in names:
        version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        if version in VERSIONS:
            return str(version)
        raise CatalogUnreadableError(
            f'the catalog "{database.shown}" has the version {version}, which is not known here',
            detail=f"This release knows versions up to {VERSIONS[-1]}.",
            hint="Upgrade streamtables to the release that wrote the catalog, or a later one.",
        )
    if names:
        raise CatalogUnreadableError(
            f'the database "{database.shown}" is not a catalog',
            detail="It holds tables that this package did not make.",
            hint="Name another file or database for the catalog.",
        )
    return None


def _bring_up_to_date(database: Database) -> None:
    if database.is_sqlite:
        _switch_to_write_ahead(database)
    with _one_at_a_time, database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        # Another process may have done it while this one waited for the lock.
        version = _checked_version(connection, database)
        if version == VERSIONS[-1]:
            return
        if version is not None and database.file is not None:
            _keep_copy(database.file, version)
        _run_migrations(connection)


def _keep_copy(file: Path, version: str) -> None:
    """Copy a catalog that is about to be upgraded; its name says of which version it is.

    We hold the write lock, so nothing is written while it is copied.
    """
    kept = file.with_name(f"{file.name}.{version}")
    number = 1
    while kept.exists():
        number += 1
        kept = file.with_name(f"{file.name}.{version}-{number}")
    copy_sqlite(file, kept)
    fields = {"from_version": version, "to_version": VERSIONS[-1], "copy": str(kept)}
    _log.warning("catalog upgraded; it is kept as it was", extra={"fields": fields})


def _switch_to_write_ahead(database: Database) -> None:
    # SQLite does not wait for a lock here, whatever the busy timeout says.
    give_up_at = time.monotonic() + _SWITCH_SECONDS
    while True:
        try:
            with database.reading() as connection:
                connection.execute(text("PRAGMA journal_mode = WAL"))
            return
        except TransientError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)


def _run_migrations(connection: Connection) -> None:
    # Imported on use: opening a catalog that is up to date does not pay for it.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, "head")
