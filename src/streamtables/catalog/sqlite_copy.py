"""A copy of an SQLite database, taken while others use it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from streamtables.errors import CatalogUnreadableError


def copy_sqlite(source: Path, file: Path) -> None:
    """Copy a database to a file that is not there yet; a copy that fails leaves none."""
    try:
        with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(file)) as written:
            read.backup(written)
            # One file is easier to carry than a file and its log.
            written.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        file.unlink(missing_ok=True)
        raise CatalogUnreadableError(
            f'the catalog "{source}" cannot be copied to "{file}"',
            detail=f"{error}.",
            hint="Make room there, and see that you may write; nothing was changed.",
        ) from error
