"""The address of a server for Java: a URL without secrets, and properties that hold them.

The first copy goes through Java, all else through libpq.  Both have to be as strict: a parameter of
TLS that Java has no word for is refused, and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from streamtables.errors import ConfigError

# As libpq names them, and as Java does.
_PROPERTIES = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
    "sslnegotiation": "sslNegotiation",
    "channel_binding": "channelBinding",
}
_SYSTEM = {"sslfactory": "org.postgresql.ssl.DefaultJavaSSLFactory", "sslmode": "verify-full"}
"""What `sslrootcert=system` is to Java: the authorities that come with it."""


def jdbc_address(parts: Mapping[str, object]) -> tuple[str, dict[str, str]]:
    """Return the address of a server for Java, out of the parts of its URL.

    Raises:
        ConfigError: the URL asks for something of TLS that Java does not know.
    """
    _refuse_unknown(parts)
    host, port = parts.get("host") or "localhost", parts.get("port") or 5432
    database = quote(str(parts.get("dbname") or parts.get("user") or "postgres"), safe="")
    found = {name: str(parts[key]) for key, name in _PROPERTIES.items() if parts.get(key)}
    if found.get("sslrootcert") == "system":
        del found["sslrootcert"]
        found |= _SYSTEM
    return f"jdbc:postgresql://{host}:{port}/{database}", found


def spelled_out(address: str, properties: Mapping[str, str]) -> str:
    """Return an address that has the properties with capitals in their names, too.

    Spark hands properties on in lower case, and the driver takes no notice of a name that it does
    not know: a channel that has to be bound would not be.  No secret has such a name.
    """
    capitals = {name: value for name, value in properties.items() if not name.islower()}
    return f"{address}?{urlencode(capitals, quote_via=quote)}" if capitals else address


def _refuse_unknown(parts: Mapping[str, object]) -> None:
    unknown = [key for key in parts if key.startswith("ssl") and key not in _PROPERTIES]
    if unknown:
        raise ConfigError(
            f"the URL of the PostgreSQL database has {', '.join(sorted(unknown))}",
            detail="The first copy of a table goes through Java, whose driver has no such setting.",
            hint="Leave it out of the URL; "
            f"TLS can be set by {', '.join(key for key in _PROPERTIES if 'ssl' in key)}.",
        )
