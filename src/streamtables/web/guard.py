"""What every request passes first: the host it names, its size, and the headers of its answer."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamtables.web.faults import Fault, fault_of

LARGEST_BODY = 64 * 1024
LONGEST_ADDRESS = 16 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_WRONG_HOST = Fault(
    421,
    "http-421",
    "this server does not answer to the host that the request names",
    hint="Open it by the address that it printed, or start it with --allow-host.",
)
_TOO_LARGE = Fault(413, "http-413", f"the request is larger than {LARGEST_BODY:,} bytes")
_TOO_LONG = Fault(414, "http-414", f"the address is longer than {LONGEST_ADDRESS:,} bytes")


def host_name(header: str) -> str:
    """Return the host of a Host header, without its port.

    >>> host_name("localhost:8000"), host_name("[::1]:8000")
    ('localhost', '[::1]')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]


@dataclass
class Guard:
    """The outermost layer of the application."""

    app: ASGIApp
    hosts: Collection[str] = field(default_factory=frozenset)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answered = _Answer(send)
        fault = self._fault(scope)
        if fault is not None:
            await _refuse(answered, fault)
            return
        try:
            await self.app(scope, _limited(receive), answered)
        except Exception as error:  # the edge: nobody gets a traceback
            # After the first byte nothing can be taken back; the connection ends unfinished.
            if not answered.begun:
                await _refuse(answered, fault_of(error))

    def _fault(self, scope: Scope) -> Fault | None:
        headers = Headers(scope=scope)
        if host_name(headers.get("host", "")) not in self.hosts:
            return _WRONG_HOST
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > LARGEST_BODY:
            return _TOO_LARGE
        long = len(scope["path"]) + len(scope["query_string"]) > LONGEST_ADDRESS
        return _TOO_LONG if long else None


@dataclass
class _Answer:
    """Adds the headers, and remembers whether an answer has begun."""

    send: Send
    begun: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await self.send(message)


def _limited(receive: Receive) -> Receive:
    """Return a reader that stops a body whose length was not told, or told wrongly."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LARGEST_BODY:
            # Of this kind alone: the framework makes any other error of a body a 400.
            raise HTTPException(_TOO_LARGE.status)
        return message

    return limited


async def _refuse(answered: _Answer, fault: Fault) -> None:
    start = {
        "type": "http.response.start",
        "status": fault.status,
        "headers": [(b"content-type", b"application/json")],
    }
    await answered(start)
    await answered({"type": "http.response.body", "body": json.dumps(fault.body()).encode()})
