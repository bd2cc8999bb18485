"""Whose turn it is to drain a database: one process at a time, by a lock on its server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any
from zlib import crc32

from psycopg import Connection

from streamtables.errors import TransientError

_LOCK_SECONDS = 60


@contextmanager
def alone(connection: Connection[Any], database: str) -> Iterator[None]:
    """Let one process at a time drain a database; the others wait."""
    until = monotonic() + _LOCK_SECONDS
    while not _taken(connection, database):
        if monotonic() > until:
            raise TransientError(
                "another process has been draining the same database for a minute",
                hint="Try again; if nothing else runs, end its connection in pg_stat_activity.",
            )
        sleep(0.05)
    with _held(connection, database):
        yield


@contextmanager
def alone_if_free(connection: Connection[Any], database: str) -> Iterator[bool]:
    """Say whether nobody drains a database, and let nobody begin meanwhile."""
    if not _taken(connection, database):
        yield False
        return
    with _held(connection, database):
        yield True


def _taken(connection: Connection[Any], database: str) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(database),)).fetchone()
    return row == (True,)


@contextmanager
def _held(connection: Connection[Any], database: str) -> Iterator[None]:
    try:
        yield
    finally:
        if not connection.closed and not connection.broken:
            connection.execute("SELECT pg_advisory_unlock(%s)", (_key(database),))


def _key(database: str) -> int:
    return crc32(f"streamtables {database}".encode())
