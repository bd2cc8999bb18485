"""A store that shows some of its objects late: to nobody, in no way, until it is told to.

What was written is there all the same: a put that asks for a new object is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.support.object_store import BUCKET

_ENTRY = re.compile(rb"<Contents>.*?<Key>(.*?)</Key>.*?</Contents>", re.DOTALL)
_NOT_THERE = b"<Error><Code>NoSuchKey</Code><Message>not shown yet</Message></Error>"
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


@dataclass
class LateKeys:
    """Stands before the store, and leaves out what is late."""

    store: Application
    late: set[str] = field(default_factory=set)
    """The ends of the keys that are not shown."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = unquote(environ["PATH_INFO"]).removeprefix(f"/{BUCKET}").lstrip("/")
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            if self._is_late(path):
                start_response("404 Not Found", [("Content-Type", "application/xml")])
                return [_NOT_THERE if environ["REQUEST_METHOD"] == "GET" else b""]
            if not path:
                return self._listed(environ, start_response)
        return self.store(environ, start_response)

    def _listed(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        said: list[Any] = []
        body = b"".join(self.store(environ, lambda *words: said.extend(words)))
        status, headers = said[0], dict(said[1])
        body = _ENTRY.sub(lambda m: b"" if self._is_late(m[1].decode()) else m[0], body)
        headers["Content-Length"] = str(len(body))
        start_response(status, list(headers.items()))
        return [body]

    def _is_late(self, key: str) -> bool:
        return any(key.endswith(end) for end in self.late)


def entry_of(table: str, version: int) -> str:
    """Return the end of the key of a log entry."""
    return f"{table}/_delta_log/{version:020d}.json"
