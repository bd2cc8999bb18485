"""A store that speaks S3, on this machine, and the environment in which it is found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

from moto.server import ThreadedMotoServer

BUCKET = "lake"


@contextmanager
def object_store(door: Callable[[Any], Any] = lambda store: store) -> Iterator[dict[str, str]]:
    """Start a store with one empty bucket; give the variables by which programs find it.

    `door` may put something before the store that sees all that is asked of it.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        assert server._server is not None
        server._server.app = door(server._server.app)
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        # All stores of one process share their memory: what an earlier one held goes.
        urlopen(Request(f"{address}/moto-api/reset", method="POST")).close()
        urlopen(Request(f"{address}/{BUCKET}", method="PUT")).close()
        yield {
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "a-key-of-the-tests",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
        }
    finally:
        server.stop()
