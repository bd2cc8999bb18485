"""Changes to an HTTP address, at least once; each part has a key by which it is known again.

A window is sent in parts of bounded size.  It is whole when the part that says `last` came; a part
0 begins it again, so a receiver keeps the parts until then and drops a window that it has applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from typing import Any
from urllib.request import Request, urlopen

from streamtables.errors import ConfigError, DeliveryError
from streamtables.publish.messages import head_of, rows_of, text_of
from streamtables.publish.reading import Changes
from streamtables.settings import resolve_secret

PART_ROWS = 1_000
_SECONDS = 10.0


class WebhookSink:
    """Posts windows to one address, which is never shown."""

    def __init__(self, publication: str, subscriber: str, address: str) -> None:
        self._publication = publication
        self._subscriber = subscriber
        self._address = address

    def position(self) -> tuple[str, int] | None:
        """Nobody asks a webhook what it has."""
        return None

    def deliver(self, changes: Changes) -> int:
        """Post all parts of a window; the first that does not arrive ends it."""
        total = 0
        for number, (rows, last) in enumerate(_parts(changes)):
            body = {**head_of(changes), "part": number, "last": last, "rows": rows}
            self._post(text_of(body).encode(), f"{changes.key}:{number}")
            total += len(rows)
        return total

    def _post(self, body: bytes, key: str) -> None:
        address = resolve_secret(self._address)
        # The library would open files too.
        if not address.startswith(("http://", "https://")):
            raise ConfigError("the address of a webhook is no address of HTTP")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "streamtables",
            "Idempotency-Key": key,
        }
        try:
            with urlopen(Request(address, body, headers, method="POST"), timeout=_SECONDS):
                return
        except (OSError, ValueError, HTTPException) as error:
            # What the library says may repeat the address; a status says enough.
            status = getattr(error, "code", None)
            said = f"it answered {status}" if status else type(error).__name__
        raise DeliveryError(
            f'the webhook of subscriber "{self._subscriber}" did not take the changes',
            detail=f"{said}.",
        )


def _parts(changes: Changes) -> Iterator[tuple[list[dict[str, Any]], bool]]:
    """Give the rows of a window in parts, and whether each is the last; there is at least one."""
    waiting: list[dict[str, Any]] = []
    for batch in changes.batches:
        for row in rows_of(batch):
            if len(waiting) == PART_ROWS:
                yield waiting, False
                waiting = []
            waiting.append(row)
    yield waiting, True
