"""Tokens with names and scopes, and people whom a proxy names.

`read` may look, `operate` may look and change.  A token is kept by reference in the settings, and
as a hash here.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from streamtables.errors import ConfigError
from streamtables.settings import Settings, resolve_secret

Scope = Literal["read", "operate"]
PEER = "streamtables.peer"
SHORTEST = 16
_TOKEN = re.compile(r"\s*([\w-]+):(read|operate)=(\$\{(?:env|file):[^}]+\})\s*")


@dataclass(frozen=True)
class Actor:
    """Somebody who asks, and what they may."""

    name: str
    scope: Scope


@dataclass(frozen=True)
class WebToken:
    """A token by the hash of its text."""

    actor: Actor
    digest: bytes

    @classmethod
    def of(cls, name: str, scope: Scope, text: str) -> WebToken:
        """Return the token of a text."""
        return cls(Actor(f"token {name}", scope), digest(text))


def digest(text: str) -> bytes:
    """Return a hash; all have one length, so comparing two takes one time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def actor_of(tokens: Iterable[WebToken], given: str) -> Actor | None:
    """Return whose token a text is; every token is compared, whichever it is."""
    hashed, found = digest(given), None
    for token in tokens:
        if hmac.compare_digest(hashed, token.digest):
            found = token.actor
    return found


def named_tokens(settings: Settings) -> tuple[WebToken, ...]:
    """Return the tokens of the setting `web_tokens`, their references resolved."""
    found: dict[str, WebToken] = {}
    for part in filter(None, settings.web_tokens.split(",")):
        match = _TOKEN.fullmatch(part)
        if match is None or match[1] in found:
            raise ConfigError(
                'the setting "web_tokens" has a part that is no token, or a name twice',
                hint="Write name:scope=${env:NAME}, separated by commas; scopes: read, operate.",
            )
        text = resolve_secret(match[3])
        if len(text) < SHORTEST:
            raise ConfigError(f'the token "{match[1]}" has fewer than {SHORTEST} characters')
        scope: Scope = "operate" if match[2] == "operate" else "read"
        found[match[1]] = WebToken.of(match[1], scope, text)
    return tuple(found.values())


@dataclass(frozen=True)
class TrustedProxy:
    """A proxy that says in a header who asks; only what comes from its address is believed."""

    header: str = ""
    peers: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network] = ()
    operators: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings) -> TrustedProxy:
        """Return what the settings say; no header is believed where none is named."""
        try:
            peers = [ipaddress.ip_network(p) for p in _listed(settings.web_trusted_peers)]
        except ValueError as error:
            raise ConfigError(
                'the setting "web_trusted_peers" has a part that is no address',
                detail=f"{error}.",
                hint="Write addresses or networks, such as 127.0.0.1, 10.0.0.0/24.",
            ) from error
        operators = frozenset(_listed(settings.web_operators))
        return cls(settings.web_trusted_user_header, peers, operators)

    def actor(self, request: Request) -> Actor | None:
        """Return whom the proxy names, if the request comes from it."""
        given = request.headers.getlist(self.header) if self.header else []
        # Twice the header: one of them may be the asker's own.
        if len(given) != 1 or not given[0].strip() or not self._is_peer(request):
            return None
        name = given[0].strip()
        return Actor(f"proxy user {name}", "operate" if name in self.operators else "read")

    def _is_peer(self, request: Request) -> bool:
        peer = request.scope.get(PEER) or request.scope.get("client")
        try:
            address = ipaddress.ip_address(peer[0] if peer else "")
        except ValueError:
            return False
        return any(address in network for network in self.peers)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
