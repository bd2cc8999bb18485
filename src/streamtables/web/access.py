"""Who may look and change: whoever brings a token, logged in with one, or is named by a proxy.

Programs send `Authorization: Bearer <token>`.  Pages exchange the token for a session in a cookie
that no other site's request carries, and each change must name our own origin beside it.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from fastapi import Request

from streamtables.web.faults import RefusedError
from streamtables.web.tokens import Actor, TrustedProxy, WebToken, actor_of, digest

COOKIE = "streamtables_session"
SESSION_SECONDS = 12 * 3600
_SESSIONS_KEPT = 100
_TRIES_A_MINUTE = 20
_HINT = "Send Authorization: Bearer <token>; `streamtables serve` says where it comes from."


def new_token() -> str:
    """Return a token for one run."""
    return secrets.token_urlsafe(24)


@dataclass
class Access:
    """Checks tokens and sessions; safe to share between threads."""

    token: str = field(repr=False)
    clock: Callable[[], float] = monotonic
    others: tuple[WebToken, ...] = ()
    proxy: TrustedProxy = field(default_factory=TrustedProxy)
    read_needs_token: bool = False
    _sessions: OrderedDict[bytes, tuple[float, Actor]] = field(default_factory=OrderedDict)
    _failures: deque[float] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)

    def log_in(self, token: str) -> str:
        """Return the name of a new session, for a right token."""
        actor = self._check(token)
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[digest(name)] = (self.clock() + SESSION_SECONDS, actor)
            while len(self._sessions) > _SESSIONS_KEPT:
                self._sessions.popitem(last=False)
        return name

    def log_out(self, request: Request) -> None:
        """End the session of a request, if it has one."""
        with self._lock:
            self._sessions.pop(digest(request.cookies.get(COOKIE, "")), None)

    def is_open(self, request: Request) -> bool:
        """Whether the request comes from somebody who may change something, by a page."""
        actor = self._session(request) or self.proxy.actor(request)
        return actor is not None and actor.scope == "operate"

    def require(self, request: Request) -> Actor:
        """Return who wants to change something, if they may; refuse every other one."""
        actor = self._bearer(request)
        if actor is None:
            actor = self._session(request) or self.proxy.actor(request)
            if actor is None:
                raise RefusedError(401, "changing something needs a token", hint=_HINT)
            require_own_origin(request)
        if actor.scope != "operate":
            raise RefusedError(
                403, "this token may only read", hint="Ask with a token of the scope operate."
            )
        return actor

    def require_reader(self, request: Request) -> None:
        """Refuse somebody unknown, where that is wanted."""
        if not self.read_needs_token:
            return
        known = self._bearer(request) or self._session(request) or self.proxy.actor(request)
        if known is None:
            raise RefusedError(401, "looking needs a token here", hint=_HINT)

    def _bearer(self, request: Request) -> Actor | None:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return self._check(given.strip()) if kind.lower() == "bearer" else None

    def _session(self, request: Request) -> Actor | None:
        with self._lock:
            until, actor = self._sessions.get(digest(request.cookies.get(COOKIE, "")), (0.0, None))
        return actor if until > self.clock() else None

    def _check(self, given: str) -> Actor:
        now = self.clock()
        with self._lock:
            while self._failures and self._failures[0] < now - 60:
                self._failures.popleft()
            if len(self._failures) >= _TRIES_A_MINUTE:
                raise RefusedError(429, "too many wrong tokens", hint="Try again in a minute.")
            actor = actor_of((WebToken.of("main", "operate", self.token), *self.others), given)
            if actor is None:
                self._failures.append(now)
                raise RefusedError(401, "this is not the token", hint=_HINT)
            return actor


def require_own_origin(request: Request) -> None:
    """Refuse a request that another site's page may have sent."""
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if request.headers.get("origin") != own:
        raise RefusedError(
            403, "the request does not come from our own pages", hint="Send the token instead."
        )
