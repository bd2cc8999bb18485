"""Telling open pages that something happened: one look for all of them, each half second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from streamtables.web.faults import RefusedError

LOOK_SECONDS = 0.5
TOLD_AT_MOST = 200
"""How many pages are told; more are refused, and poll by being loaded again."""
_ENDS_AFTER = 600.0
_ALIVE_SECONDS = 15.0


@dataclass
class Pulse:
    """Looks while somebody listens, and tells all who do."""

    look: Callable[[], str]
    listeners: int = 0
    _last: str = ""
    _beat: asyncio.Condition = field(default_factory=asyncio.Condition)
    _task: asyncio.Task[None] | None = None

    def listen(self) -> AsyncIterator[str]:
        """Return a stream of events, for one page."""
        if self.listeners >= TOLD_AT_MOST:
            raise RefusedError(
                503, "too many pages are open", hint="Close some, or load them again."
            )
        return self._told()

    async def _told(self) -> AsyncIterator[str]:
        self.listeners += 1
        try:
            if self._task is None or self._task.done():
                self._last = await run_in_threadpool(self.look)
                self._task = asyncio.create_task(self._watch())
            ends = asyncio.get_running_loop().time() + _ENDS_AFTER
            # Named at once, so that a page that was loaded before knows whether it is old.
            yield _event(self._last)
            while asyncio.get_running_loop().time() < ends:
                try:
                    async with asyncio.timeout(_ALIVE_SECONDS), self._beat:
                        await self._beat.wait()
                    yield _event(self._last)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self.listeners -= 1

    async def _watch(self) -> None:
        while self.listeners:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                found = await run_in_threadpool(self.look)
            except Exception:  # a look that failed says nothing; the next one may
                continue
            if found != self._last:
                self._last = found
                async with self._beat:
                    self._beat.notify_all()


def _event(mark: str) -> str:
    return f"event: change\ndata: {mark}\n\n"
