"""Connections to a captured server: one place for addresses, roles, settings and errors.

An address is a reference (`${env:NAME}`, `${file:path}`) or a URL; what it stands for is resolved
when a connection is made, and appears in no message, record or log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict

from streamtables.engine.jdbc_copy import SESSION, WHOLE
from streamtables.errors import ConfigError, SourceUnusableError, StreamTablesError, TransientError
from streamtables.settings import resolve_secret
from streamtables.sources.postgres.jdbc_address import jdbc_address

OLDEST, NEWEST = 14, 18
SCHEMA = "streamtables_capture"
"""Where everything of ours on a captured server is: buffers, functions, records."""

_CONNECT_SECONDS = 10
_KEEPALIVE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_NOT_PROVEN = ("certificate", "does not support SSL")
"""What libpq says of a server that fails the checks of TLS; a connection that broke is not that."""
# A look at many tables seems worth compiling to the server, which takes longer than the look.
_PLANS = {"jit": "off"}


@dataclass(frozen=True)
class Server:
    """A PostgreSQL database by its address, which may be a reference to a secret."""

    address: str

    @property
    def url(self) -> str:
        """What the reference stands for; never shown."""
        found = resolve_secret(self.address)
        if not found.startswith(("postgres://", "postgresql://")):
            raise ConfigError(
                "the address of a PostgreSQL database has to be a URL",
                hint="Write postgresql://user@host:port/database, or a reference such as "
                "${env:SHOP_URL} to one.",
            )
        try:
            conninfo_to_dict(found)
        except psycopg.Error:
            # What the driver says repeats the part that it cannot read, often the password.
            raise ConfigError(
                "the URL of the PostgreSQL database cannot be read",
                hint="Characters such as @ : / # and blanks in a password are written as %40 %3A "
                "%2F %23 %20.",
            ) from None
        return found

    @property
    def shown(self) -> str:
        """The address for people: host, port and database, without user and password."""
        if self.address.startswith("${"):
            return self.address
        parts = urlsplit(self.url)
        host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
        return f"{host}:{parts.port or 5432}{unquote(parts.path)}"

    def require_reference(self) -> None:
        """Refuse a password that would be stored as it is."""
        if not self.address.startswith("${") and self._secrets():
            raise ConfigError(
                "the address of the PostgreSQL database has a password in it",
                detail="Addresses are stored in the catalog; passwords never are.",
                hint="Put the URL into an environment variable or a file, and give a reference to "
                "it: ${env:SHOP_URL} or ${file:/run/secrets/shop_url}.",
            )

    def jdbc(self) -> tuple[str, dict[str, str]]:
        """Return the address for Java, and the properties that hold user, password and TLS."""
        address, properties = jdbc_address(conninfo_to_dict(self.url))
        return address, {**properties, "ApplicationName": "streamtables copy"}

    @contextmanager
    def connected(
        self, role: str, *, autocommit: bool = True, whole: bool = True
    ) -> Iterator[Connection[Any]]:
        """Give a connection for one purpose, which the server's views show as its name.

        A statement that a policy would hide rows from fails, unless `whole` is false.

        Raises:
            SourceUnusableError: the server refuses us.
            TransientError: the server cannot be reached, or the connection broke.
        """
        with self.border():
            connection = psycopg.connect(
                self.url,
                **self._lively(),
                autocommit=autocommit,
                connect_timeout=_CONNECT_SECONDS,
                application_name=f"streamtables {role}",
                options=" ".join(
                    f"-c {name}={value.replace(' ', chr(92) + ' ')}"
                    for name, value in (SESSION | _PLANS | (WHOLE if whole else {})).items()
                ),
                # Statements differ with each table, and poolers lose prepared ones.
                prepare_threshold=None,
            )
            try:
                yield connection
                if not autocommit:
                    connection.commit()
            finally:
                connection.close()

    def _lively(self) -> dict[str, Any]:
        """Return how a peer that is gone without a word is noticed, where the URL does not say."""
        said = conninfo_to_dict(self.url)
        return {name: value for name, value in _KEEPALIVE.items() if name not in said}

    @contextmanager
    def border(self) -> Iterator[None]:
        """Turn the driver's errors into ours, without the secrets that they may repeat."""
        try:
            yield
        except psycopg.Error as error:
            raise self._translated(error) from None

    def _translated(self, error: psycopg.Error) -> StreamTablesError:
        said = self._without_secrets(_first_line(error))
        code = error.sqlstate or ""
        if code.startswith("28") or "authentication failed" in said:
            return SourceUnusableError(
                f"the PostgreSQL server {self.shown} refuses the connection",
                detail=said,
                hint="Check user and password behind the address, and the server's pg_hba.conf.",
            )
        if not code and any(sign in said for sign in _NOT_PROVEN):
            return SourceUnusableError(
                f"the PostgreSQL server {self.shown} is not proven to be the right one",
                detail=said,
                hint="Check sslmode and sslrootcert behind the address, and the name in the "
                "server's certificate.",
            )
        if code == "3D000" or (not code and "does not exist" in said):
            return SourceUnusableError(
                f"the PostgreSQL server {self.shown} does not have what was asked for", detail=said
            )
        if code == "42501":
            return SourceUnusableError(
                f"a right is missing on the PostgreSQL server {self.shown}",
                detail=said,
                hint="docs/postgresql.md has the statements that give a role what it needs.",
            )
        if code == "25006":
            return SourceUnusableError(
                f"the PostgreSQL server {self.shown} is read-only",
                detail=said,
                hint="Capture has to be set up on the primary; a standby only has copies.",
            )
        if isinstance(error, psycopg.OperationalError) or code[:2] in ("08", "53", "57", "40"):
            return TransientError(f"the PostgreSQL server {self.shown} did not answer", detail=said)
        return SourceUnusableError(
            f"the PostgreSQL server {self.shown} refused a statement", detail=said
        )

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, "…")
        return text

    def _secrets(self) -> list[str]:
        parts = conninfo_to_dict(self.url)
        return [str(parts[key]) for key in ("password", "sslpassword") if parts.get(key)]


_HOLDS_NOTHING = """
SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_class WHERE relnamespace = n.oid)
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc WHERE pronamespace = n.oid)
   AND pg_catalog.pg_has_role(n.nspowner, 'USAGE')
FROM pg_catalog.pg_namespace n WHERE n.nspname = %s
"""


def drop_empty_schema(connection: Connection[Any]) -> None:
    """Drop our schema once nothing of ours is in it."""
    if connection.execute(_HOLDS_NOTHING, (SCHEMA,)).fetchone() == (True,):
        connection.execute(sql.SQL("DROP SCHEMA {}").format(sql.Identifier(SCHEMA)))


def _first_line(error: psycopg.Error) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
