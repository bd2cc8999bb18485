"""A standby is no source: it says so at once, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import SourceUnusableError
from tests.support.postgres_chain import Chain

pytestmark = pytest.mark.postgres


@pytest.fixture
def standby() -> Iterator[PostgresServer]:
    """A server that replays the log of a primary, which has gone."""
    with running_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
        server.stop()
        (server.folder / "data" / "standby.signal").touch()
        server.start()
        yield server


@pytest.mark.parametrize("capture", ["auto", "triggers", "wal"])
def test_a_standby_is_refused_in_one_message(
    standby: PostgresServer, tmp_path: Path, capture: Any
) -> None:
    with Chain(tmp_path / "w", standby.url) as chain:
        with pytest.raises(SourceUnusableError) as raised:
            chain.add("t", capture=capture)
        assert "is a standby, which is read-only" in raised.value.message
        assert raised.value.hint == "Give the address of its primary."
        assert list(chain.catalog.sources()) == []
        assert chain.catalog.captures() == {}
