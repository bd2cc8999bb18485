"""Notices as JSON to an HTTP address, by a thread that keeps nobody waiting.

The address may hold a token, so it is never part of a message, a log line or an error.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from http.client import HTTPException
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import NamedTuple
from urllib.request import Request, urlopen

from streamtables.errors import ConfigError
from streamtables.observe.counts import Counts
from streamtables.observe.declared import SINK_DROPPED, SINK_RETRIES, SINK_SENT
from streamtables.observe.notices import Notice
from streamtables.settings import resolve_secret

NAME = "webhook"
ROOM = 1_000
"""How many notices may wait; more are dropped, and counted."""
FIRST_DELAY, LONGEST_DELAY = 1.0, 60.0

_log = logging.getLogger("streamtables.webhook")


class Patience(NamedTuple):
    """How long an answer is waited for, and how often a notice is tried again."""

    timeout: float = 5.0
    retries: int = 3


class Webhook:
    """Sends notices in the order in which they happened; the thread starts with the first."""

    def __init__(
        self,
        address: str,
        counts: Counts,
        patience: Patience = Patience(),  # noqa: B008  # it cannot be changed
        *,
        room: int = ROOM,
        first_delay: float = FIRST_DELAY,
    ) -> None:
        self._address = address
        self._counts = counts
        self._patience = patience
        self._first_delay = first_delay
        self._waiting: Queue[Notice] = Queue(room)
        self._ending = Event()
        self._thread: Thread | None = None
        self._lock = Lock()

    def send(self, notice: Notice) -> None:
        """Put a notice into the queue; a full one drops it."""
        try:
            self._waiting.put_nowait(notice)
        except Full:
            self._drop(notice, "the queue is full")
            return
        with self._lock:
            if self._thread is None and not self._ending.is_set():
                self._thread = Thread(target=self._run, name="streamtables-webhook", daemon=True)
                self._thread.start()

    def close(self, patience: float | None = None) -> None:
        """Try once more for what still waits, for no longer than one answer may take."""
        self._ending.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(self._patience.timeout + 1 if patience is None else patience)

    def _run(self) -> None:
        while not (self._ending.is_set() and self._waiting.empty()):
            try:
                notice = self._waiting.get(timeout=0.2)
            except Empty:
                continue
            self._deliver(notice)

    def _deliver(self, notice: Notice) -> None:
        reason = ""
        for attempt in range(self._patience.retries + 1):
            if attempt and self._ending.wait(self._delay(attempt)):
                break
            reason = self._posted(notice)
            if not reason:
                self._counts.add(SINK_SENT, NAME)
                return
            self._counts.add(SINK_RETRIES, NAME)
        self._drop(notice, reason)

    def _delay(self, attempt: int) -> float:
        return min(LONGEST_DELAY, self._first_delay * 2.0 ** (attempt - 1))

    def _posted(self, notice: Notice) -> str:
        """Post one notice; return why that failed, without the address, or nothing."""
        try:
            request = Request(
                _checked(resolve_secret(self._address)),
                data=json.dumps(asdict(notice)).encode(),
                headers={"Content-Type": "application/json", "User-Agent": "streamtables"},
                method="POST",
            )
            with urlopen(request, timeout=self._patience.timeout):
                return ""
        except ConfigError as error:
            return error.message
        except (OSError, ValueError, HTTPException) as error:
            # What the library says may repeat the address; a status says enough.
            status = getattr(error, "code", None)
            return f"it answered {status}" if status else type(error).__name__

    def _drop(self, notice: Notice, reason: str) -> None:
        self._counts.add(SINK_DROPPED, NAME)
        fields = {"kind": notice.kind, "subject": notice.subject, "reason": reason}
        _log.warning("webhook notice dropped", extra={"fields": fields})


def _checked(address: str) -> str:
    # The library would open files too.
    if not address.startswith(("http://", "https://")):
        raise ConfigError("webhook_url does not refer to an address of HTTP")
    return address
