"""Addresses: what the URL of a server says reaches libpq and Java alike, or is refused."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from streamtables.errors import ConfigError, TransientError
from streamtables.sources.postgres.server import Server

BASE = "postgresql://me@db.example:6432/shop"

TLS = {
    "sslmode": ("verify-full", "sslmode"),
    "sslrootcert": ("/etc/ca.pem", "sslrootcert"),
    "sslcert": ("/etc/me.pem", "sslcert"),
    "sslkey": ("/etc/me.pk8", "sslkey"),
    "sslnegotiation": ("direct", "sslNegotiation"),
    "channel_binding": ("require", "channelBinding"),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Collect what the driver is asked for, in place of a connection."""
    found: dict[str, Any] = {}

    def connect(url: str, **options: Any) -> object:
        found.update(conninfo_to_dict(url), **options)
        raise psycopg.OperationalError("nobody is there")

    monkeypatch.setattr(psycopg, "connect", connect)
    return found


@pytest.mark.parametrize("name", TLS)
def test_every_setting_of_tls_reaches_both_drivers(name: str, asked: dict[str, Any]) -> None:
    value, java = TLS[name]
    server = Server(f"{BASE}?{name}={value}")
    address, properties = server.jdbc()
    assert address == "jdbc:postgresql://db.example:6432/shop"
    assert properties[java] == value
    assert properties["user"] == "me"
    with pytest.raises(TransientError), server.connected("test"):
        pass
    assert (asked[name], asked["host"], asked["port"]) == (value, "db.example", "6432")


def test_secrets_are_properties_and_never_in_the_address_for_java() -> None:
    server = Server("postgresql://me:s%40cret@db/shop?sslpassword=key-word")
    address, properties = server.jdbc()
    assert (properties["password"], properties["sslpassword"]) == ("s@cret", "key-word")
    assert "cret" not in address
    assert "key-word" not in address


def test_the_authorities_of_the_system_are_those_of_java() -> None:
    _, properties = Server(f"{BASE}?sslrootcert=system").jdbc()
    assert properties["sslmode"] == "verify-full"
    assert properties["sslfactory"] == "org.postgresql.ssl.DefaultJavaSSLFactory"
    assert "sslrootcert" not in properties


@pytest.mark.parametrize("setting", ["sslcrl=/etc/gone.crl", "ssl_min_protocol_version=TLSv1.3"])
def test_what_java_cannot_keep_is_refused_and_not_left_out(setting: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Server(f"{BASE}?{setting}").jdbc()
    assert setting.split("=")[0] in refused.value.message


@pytest.mark.parametrize("secret", ["me:word@db/shop", "me@db/shop?sslpassword=word"])
def test_an_address_with_a_secret_in_it_is_not_stored(secret: str) -> None:
    with pytest.raises(ConfigError, match="password"):
        Server(f"postgresql://{secret}").require_reference()


def test_no_secret_is_in_a_message(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(_: str, **__: Any) -> object:
        raise psycopg.OperationalError("cannot use word-1 nor word-2")

    monkeypatch.setattr(psycopg, "connect", connect)
    server = Server("postgresql://me:word-1@db/shop?sslpassword=word-2")
    with pytest.raises(TransientError) as refused, server.connected("test"):
        pass
    assert "word" not in f"{refused.value.message} {refused.value.detail} {refused.value.hint}"
