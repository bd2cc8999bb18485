"""A limit to the time that a refresh may take: past it, its Spark jobs are cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from streamtables.errors import RefreshTimeoutError, StreamTablesError

AGAIN_SECONDS = 1.0
"""How often it is cancelled until it ends: a job may begin just after."""


@contextmanager
def deadline(seconds: float, cancel: Callable[[], None], name: str) -> Iterator[None]:
    """Call `cancel` after some seconds; what then fails, failed because of it.  0 is never."""
    if seconds <= 0:
        yield
        return
    done, passed = Event(), Event()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            passed.set()
            cancel()
            wait = AGAIN_SECONDS

    Thread(target=watch, name="streamtables-deadline", daemon=True).start()
    try:
        yield
    except StreamTablesError as error:
        if not passed.is_set():
            raise
        raise RefreshTimeoutError(
            f'the refresh of "{name}" took longer than {seconds:g} s and was cancelled',
            hint="Raise refresh_timeout_seconds, or make the query cheaper.",
        ) from error
    finally:
        done.set()
