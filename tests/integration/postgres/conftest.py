"""One PostgreSQL server for all tests, and a database of its own for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from psycopg import sql

from streamtables.demo.postgres_server import PostgresServer, running_server

_NUMBERS = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The server; tests must not stop it."""
    with running_server(fsync="off", full_page_writes="off") as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The address of a new database, which is gone after the test."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield postgres.url_of(name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
