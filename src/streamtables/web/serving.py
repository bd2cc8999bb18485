"""Opening a port for the pages of a warehouse, alone or beside its scheduler."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

from streamtables.errors import EnvironmentFaultError
from streamtables.settings import resolve_secret
from streamtables.web.extra import require_web_packages

if TYPE_CHECKING:
    import uvicorn

    from streamtables.api import StreamTables

DEFAULT_PORT = 8321
KEPT_OPEN_SECONDS = 60
"""For how long a connection without a request stays open.

Pages ask again every five seconds, at which uvicorn would close it under the next request.
"""
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True)
class Address:
    """Where pages are served, and by which other names they may be asked for."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allowed: Sequence[str] = ()


@dataclass(frozen=True)
class Opened:
    """What a person is told at the start."""

    url: str
    token: str | None
    """The token where it was made for this run; None where the settings have one."""
    open_to_others: bool = False
    """Whether other machines can look without a token."""


def serve(db: StreamTables, address: Address, told: Callable[[Opened], None]) -> None:
    """Serve pages until the process is told to stop."""
    server, door, opened = _prepared(db, address)
    with door:
        told(opened)
        server.run(sockets=[door])


@contextmanager
def served_beside(
    db: StreamTables, address: Address, told: Callable[[Opened], None]
) -> Iterator[None]:
    """Serve pages in a thread while something else runs, such as the scheduler."""
    server, door, opened = _prepared(db, address)
    thread = Thread(target=server.run, kwargs={"sockets": [door]}, name="streamtables-web")
    with door:
        thread.start()
        while not server.started and thread.is_alive():
            sleep(0.01)
        told(opened)
        try:
            yield
        finally:
            server.should_exit = True
            thread.join()


def _prepared(db: StreamTables, address: Address) -> tuple[uvicorn.Server, socket.socket, Opened]:
    require_web_packages()
    import uvicorn

    from streamtables.web.access import new_token
    from streamtables.web.app import LOCAL_HOSTS, build_app
    from streamtables.web.peers import behind_proxy

    given = resolve_secret(db.settings.web_token)
    token = given or new_token()
    own = {f"[{address.host}]" if ":" in address.host else address.host} - _EVERYWHERE
    app = build_app(db, token=token, hosts={*LOCAL_HOSTS, *own, *address.allowed})
    config = uvicorn.Config(
        behind_proxy(app),
        # Done by ourselves, after the address of the proxy was noted.
        proxy_headers=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=KEPT_OPEN_SECONDS,
        lifespan="on",
    )
    door = _door(address)
    shown = "localhost" if address.host in {*_EVERYWHERE, "127.0.0.1"} else address.host
    url = f"http://{f'[{shown}]' if ':' in shown else shown}:{door.getsockname()[1]}/"
    reachable = address.host not in _HERE and not db.settings.web_read_needs_token
    return uvicorn.Server(config), door, Opened(url, None if given else token, reachable)


def _door(address: Address) -> socket.socket:
    """Return a socket that listens, so that a port in use is refused before anything else."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((address.host, address.port))
        door.listen(128)
    except OSError as error:
        door.close()
        raise EnvironmentFaultError(
            f"cannot listen on {address.host} port {address.port}",
            detail=f"{error.strerror or error}.",
            hint="Choose another port with --port, or 0 for any that is free.",
        ) from error
    return door
