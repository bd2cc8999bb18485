"""The metrics of one process on a port of this machine, for Prometheus to scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client.exposition import ThreadingWSGIServer

from streamtables.errors import ConfigError
from streamtables.observe.exposition import CONTENT_TYPE

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

LOOPBACK = "127.0.0.1"


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: a scrape every few seconds is no news."""


class MetricsServer:
    """Answers `/metrics` until it is closed; other machines cannot reach it."""

    def __init__(self, text: Callable[[], str], port: int) -> None:
        self._text = text
        try:
            self._server = make_server(
                LOOPBACK, port, self._answer, ThreadingWSGIServer, handler_class=_Silent
            )
        except OSError as error:
            raise ConfigError(
                f"metrics cannot be served on port {port}",
                detail=f"{error.strerror or error}.",
                hint="Choose a port that is free.",
            ) from error
        self._thread = Thread(
            target=self._server.serve_forever, name="streamtables-metrics", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it answers on."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environment["PATH_INFO"] not in ("/", "/metrics"):
            start("404 Not Found", [("Content-Type", "text/plain")])
            return [b"metrics are at /metrics\n"]
        body = self._text().encode()
        start("200 OK", [("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(body)))])
        return [body]
