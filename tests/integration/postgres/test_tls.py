"""TLS: a source is followed over it, and a server that cannot prove its name is refused."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import psycopg
import pytest

from streamtables.cli import main
from streamtables.demo.postgres_server import PostgresServer
from streamtables.errors import StreamTablesError
from streamtables.sources.postgres.jdbc_address import spelled_out
from streamtables.sources.postgres.server import Server
from tests.support.postgres_chain import Chain, rows_of
from tests.support.tls_door import authority, signed, tls_door

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl signs the certificates"),
]

OURS = """
SELECT count(*) FROM (
    SELECT pubname FROM pg_publication
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'streamtables_capture'
    UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal) AS ours
"""


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    return authority(tmp_path, "our-authority")


@pytest.fixture
def door(postgres: PostgresServer, ca: Path, tmp_path: Path) -> Iterator[int]:
    with tls_door(postgres.port, signed(tmp_path, ca, "localhost")) as port:
        yield port


def address(port: int, database: str, ca: Path, host: str = "localhost") -> str:
    name = database.rsplit("/", 1)[1]
    where = f"host={host}&hostaddr=127.0.0.1&port={port}"
    return f"postgresql://postgres@/{name}?{where}&sslmode=verify-full&sslrootcert={ca}"


def test_a_source_is_followed_over_tls(door: int, ca: Path, database: str, tmp_path: Path) -> None:
    with (
        psycopg.connect(database, autocommit=True) as shop,
        Chain(tmp_path / "w", address(door, database, ca)) as chain,
    ):
        shop.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
        shop.execute("INSERT INTO keyed VALUES (1, 'x')")
        chain.add("keyed", capture="triggers")
        shop.execute("INSERT INTO keyed VALUES (2, 'y')")
        assert chain.drain() == {}
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
    with Server(address(door, database, ca)).connected("test") as connection:
        assert connection.pgconn.ssl_in_use


def test_a_server_signed_by_somebody_else_is_refused(
    door: int, database: str, tmp_path: Path
) -> None:
    other = authority(tmp_path, "another-authority")
    server = Server(address(door, database, other))
    with pytest.raises(StreamTablesError) as refused, server.connected("test"):
        pass
    assert "certificate verify failed" in refused.value.detail


def test_what_is_not_proven_is_a_wrong_request_and_leaves_nothing(
    door: int, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = authority(tmp_path, "another-authority")
    monkeypatch.setenv("SHOP_URL", address(door, database, other))
    with psycopg.connect(database, autocommit=True) as shop:
        shop.execute("CREATE TABLE keyed (id int PRIMARY KEY)")
        out, err = io.StringIO(), io.StringIO()
        words = ("source", "add", "keyed", "--postgres", "${env:SHOP_URL}", "--table", "keyed")
        with redirect_stdout(out), redirect_stderr(err):
            assert main(["--warehouse", str(tmp_path / "w"), *words]) == 2
        assert out.getvalue() == ""
        assert err.getvalue().startswith("error[ST-1")
        assert "is not proven to be the right one" in err.getvalue()
        assert "sslrootcert" in err.getvalue()
        assert shop.execute(OURS).fetchone() == (0,)
    with Chain(tmp_path / "w", database) as chain:
        assert chain.catalog.sources() == ()
    assert not (tmp_path / "w" / "mirrors").exists()


def test_a_server_with_another_name_is_refused(door: int, ca: Path, database: str) -> None:
    server = Server(address(door, database, ca, host="shop.example"))
    with pytest.raises(StreamTablesError) as refused, server.connected("test"):
        pass
    assert "shop.example" in refused.value.detail


def test_a_server_without_tls_is_refused_when_it_is_asked_for(
    postgres: PostgresServer, ca: Path, database: str
) -> None:
    server = Server(address(postgres.port, database, ca))
    with pytest.raises(StreamTablesError) as refused, server.connected("test"):
        pass
    assert "does not support SSL" in refused.value.detail


def test_what_spark_would_write_in_lower_case_is_in_the_address_for_java_and_no_secret_is() -> None:
    said = "channel_binding=require&sslnegotiation=direct&sslmode=require&sslpassword=key-word"
    server = Server(f"postgresql://me:pass-word@db.example:6432/shop?{said}")
    address, *asked = re.split("[?&]", spelled_out(*server.jdbc()))
    assert address == "jdbc:postgresql://db.example:6432/shop"
    assert sorted(asked) == [
        "ApplicationName=streamtables%20copy",
        "channelBinding=require",
        "sslNegotiation=direct",
    ]
