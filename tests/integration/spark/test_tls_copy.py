"""The first copy over TLS: Java is as strict as libpq, and nothing is left of one that it refuses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.server import Server
from tests.support.bags import bag_of
from tests.support.spark_oracle import refreshed, stored_bag
from tests.support.tls_door import authority, signed, tls_door

pytestmark = [
    pytest.mark.spark,
    pytest.mark.postgres,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl signs the certificates"),
]

OURS = """
SELECT count(*) FROM (
    SELECT nspname FROM pg_namespace WHERE nspname = 'streamtables_capture'
    UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal) AS ours
"""
QUERY = "SELECT a, count(*) AS n FROM keyed GROUP BY a"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        yield started


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS keyed")
        connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
        connection.execute("INSERT INTO keyed SELECT i, i % 7 FROM generate_series(1, 2000) i")
        yield connection


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    return authority(tmp_path, "our-authority")


@pytest.fixture
def url(server: PostgresServer, ca: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a door that speaks nothing but TLS."""
    with tls_door(server.port, signed(tmp_path, ca, "localhost")) as port:
        yield f"postgresql://postgres@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={ca}"


def test_a_table_is_copied_and_followed_over_tls(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    db.add_source("keyed", postgres=url, table="keyed", capture="triggers")
    db.create("counted", QUERY)
    refreshed(db, "counted")
    shop.execute("INSERT INTO keyed VALUES (-1, 'later')")
    refreshed(db, "counted")
    assert stored_bag(db, "counted") == bag_of(shop.execute(QUERY).fetchall())
    db.drop("counted")
    db.drop_source("keyed")
    assert shop.execute(OURS).fetchone() == (0,)


def test_java_refuses_a_server_that_somebody_else_signed_and_nothing_is_left(
    db: StreamTables,
    shop: psycopg.Connection,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, jdbc = authority(tmp_path, "another-authority"), Server.jdbc

    def with_another_root(server: Server) -> tuple[str, dict[str, str]]:
        # As the URL says it libpq would refuse first, and Java would never be asked.
        address, properties = jdbc(server)
        assert properties["sslmode"] == "verify-full"
        return address, {**properties, "sslrootcert": str(other)}

    monkeypatch.setattr(Server, "jdbc", with_another_root)
    with pytest.raises(SourceUnusableError) as refused:
        db.add_source("keyed", postgres=url, table="keyed", capture="triggers")
    assert "certification path" in refused.value.detail
    assert db.sources() == []
    assert shop.execute(OURS).fetchone() == (0,)
    assert not list((tmp_path / "warehouse" / "mirrors").glob("*"))
