"""The connection to the catalog's database: SQLite or PostgreSQL, transactions, error border.

SQLite runs in write-ahead mode, so readers never wait.  A write transaction takes the write lock
when it begins: one that reads first and locks later can be refused half-way.  On PostgreSQL all
tables are in a schema of their own, beside whatever else the database holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, StatementError
from sqlalchemy.pool import QueuePool

from streamtables.errors import (
    CatalogUnreadableError,
    ConfigError,
    InternalError,
    NotFoundError,
    StreamTablesError,
    TransientError,
)
from streamtables.settings import resolve_secret

FOLDER_NAME = "_streamtables"
FILE_NAME = "catalog.db"
SCHEMA = "streamtables"

_BUSY_MILLISECONDS = 10_000
_WRITES = "streamtables_writes"
_FOREIGN_KEY_VIOLATION = "23503"
_TRANSACTION_ROLLBACK = "40"
# A server that refuses a connection for lack of room gives the driver no code, only words.
_PASSING = ("locked", "too many clients", "too many connections", "remaining connection slots")


def default_location(warehouse: Path) -> Path:
    """Return where the catalog of a warehouse is when no database is named."""
    return warehouse / FOLDER_NAME / FILE_NAME


class Database:
    """An engine with transactions that read or write, and a count of the statements sent.

    Safe to share between threads; each transaction has its own connection.
    """

    def __init__(self, url: URL) -> None:
        # Without parameters: passwords can stand among them too.
        self.shown = url.set(query={}).render_as_string(hide_password=True)
        self.is_sqlite = url.drivername == "sqlite"
        self.file = Path(url.database) if self.is_sqlite and url.database else None
        self.queries = 0
        self._engine = _engine(url)
        # Where a statement stands alone, the transaction round it would be two more round trips.
        options = {} if self.is_sqlite else {"isolation_level": "AUTOCOMMIT"}
        self._readers = self._engine.execution_options(**options)
        self._writers = self._engine.execution_options(**{_WRITES: True})
        event.listen(self._engine, "before_cursor_execute", self._count)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection on which each statement sees what is committed when it starts."""
        with self.border(), self._readers.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection in a write transaction: all of it happens, or nothing."""
        with self.border(), self._writers.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def border(self) -> Iterator[None]:
        """Turn the database driver's errors into ours."""
        try:
            yield
        except DBAPIError as exc:
            raise self._translated(exc) from exc
        except StatementError as exc:
            raise InternalError(
                "the catalog was given a wrong value", detail=f"{exc.orig}."
            ) from exc

    def _count(self, *_: object) -> None:
        self.queries += 1

    def _translated(self, exc: DBAPIError) -> StreamTablesError:
        cause = str(exc.orig).strip().splitlines()[0] if exc.orig else "The connection failed"
        if isinstance(exc, IntegrityError):
            if _violates_foreign_key(exc):
                return NotFoundError("the stream table is no longer in the catalog")
            return InternalError("the catalog refused a row", detail=f"{cause}.")
        if exc.connection_invalidated or _can_pass(exc):
            return TransientError(f'the catalog "{self.shown}" did not answer', detail=f"{cause}.")
        return CatalogUnreadableError(
            f'cannot use the catalog "{self.shown}"',
            detail=f"{cause}.",
            hint="Check that the file or server is there, whole, and that you may write to it.",
        )


def database_at(location: str | Path) -> Database:
    """Return the database at a path or URL; secret references are resolved here."""
    text = resolve_secret(str(location))
    if "://" not in text:
        return Database(URL.create("sqlite", database=text))
    try:
        url = make_url(text)
    except ArgumentError:
        # The cause may quote the URL, and with it a password.
        raise ConfigError("the URL of the catalog cannot be read") from None
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return Database(url)
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return Database(url.set(drivername="postgresql+psycopg"))
    raise ConfigError(
        f'the catalog cannot be in a database of the kind "{url.drivername}"',
        hint="Name a file, or a URL that starts with postgresql://.",
    )


def _engine(url: URL) -> Engine:
    is_sqlite = url.drivername == "sqlite"
    patience = {} if is_sqlite or "connect_timeout" in url.query else {"connect_timeout": 10}
    # Refreshes run in threads, one connection each while they record.
    engine = create_engine(
        url, poolclass=QueuePool, pool_size=8, max_overflow=56, connect_args=patience
    )
    event.listen(engine, "connect", _prepare_sqlite if is_sqlite else _prepare_postgres)
    if is_sqlite:
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver's own transactions begin too late; `_begin_sqlite` begins them.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    connection.execute("PRAGMA foreign_keys = ON")
    # In write-ahead mode NORMAL keeps the file whole over a power cut; the last records may be
    # lost, and the Delta commits bring them back.
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _prepare_postgres(connection: Any, _record: object) -> None:
    connection.autocommit = True
    connection.execute(f"SET search_path TO {SCHEMA}")
    connection.autocommit = False


def _violates_foreign_key(exc: IntegrityError) -> bool:
    return _state(exc) == _FOREIGN_KEY_VIOLATION or "FOREIGN KEY" in str(exc.orig)


def _can_pass(exc: DBAPIError) -> bool:
    said = str(exc.orig)
    return _state(exc).startswith(_TRANSACTION_ROLLBACK) or any(word in said for word in _PASSING)


def _state(exc: DBAPIError) -> str:
    # Only PostgreSQL's driver has it; None there means that no server answered.
    return getattr(exc.orig, "sqlstate", None) or ""
