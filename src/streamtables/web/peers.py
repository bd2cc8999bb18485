"""The address that a request comes from, noted before a proxy's headers replace it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from streamtables.web.tokens import PEER


def behind_proxy(app: ASGIApp) -> ASGIApp:
    """Return an application that believes a proxy on this machine, and knows that it is one."""
    # The types of uvicorn and starlette for one protocol differ in name alone.
    inner = ProxyHeadersMiddleware(app, trusted_hosts="127.0.0.1")  # type: ignore[arg-type]

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        await inner({**scope, PEER: scope.get("client")}, receive, send)  # type: ignore[arg-type]

    return noted
