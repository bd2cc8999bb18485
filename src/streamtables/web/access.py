"""Who may change something: whoever brings the token, or logged in with it from our own pages.

Programs send `Authorization: Bearer <token>`.  Pages exchange the token for a session in a cookie
that no other site's request carries, and each change must name our own origin beside it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from fastapi import Request

from streamtables.web.faults import RefusedError

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

    token: str
    clock: Callable[[], float] = monotonic
    _sessions: OrderedDict[bytes, float] = field(default_factory=OrderedDict)
    _failures: deque[float] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)

    def log_in(self, token: str) -> str:
        """Return the name of a new session, for the right token."""
        self._check(token)
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[_hash(name)] = self.clock() + SESSION_SECONDS
            while len(self._sessions) > _SESSIONS_KEPT:
                self._sessions.popitem(last=False)
        return name

    def log_out(self, request: Request) -> None:
        """End the session of a request, if it has one."""
        with self._lock:
            self._sessions.pop(_hash(request.cookies.get(COOKIE, "")), None)

    def is_open(self, request: Request) -> bool:
        """Whether the request comes with a session."""
        with self._lock:
            until = self._sessions.get(_hash(request.cookies.get(COOKIE, "")))
        return until is not None and until > self.clock()

    def require(self, request: Request) -> None:
        """Let through a request that may change something; refuse every other one."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            self._check(given.strip())
            return
        if not self.is_open(request):
            raise RefusedError(401, "changing something needs a token", hint=_HINT)
        require_own_origin(request)

    def _check(self, given: str) -> None:
        now = self.clock()
        with self._lock:
            while self._failures and self._failures[0] < now - 60:
                self._failures.popleft()
            if len(self._failures) >= _TRIES_A_MINUTE:
                raise RefusedError(429, "too many wrong tokens", hint="Try again in a minute.")
            # Hashes have one length, so the time it takes says nothing about the token.
            if not hmac.compare_digest(_hash(given), _hash(self.token)):
                self._failures.append(now)
                raise RefusedError(401, "this is not the token", hint=_HINT)


def require_own_origin(request: Request) -> None:
    """Refuse a request that another site's page may have sent."""
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if request.headers.get("origin") != own:
        raise RefusedError(
            403, "the request does not come from our own pages", hint="Send the token instead."
        )


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
