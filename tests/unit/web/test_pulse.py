"""Open pages are told what happened, and nobody looks while none is open."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from streamtables.web import pulse
from streamtables.web.faults import RefusedError
from streamtables.web.pulse import Pulse


class Looked:
    """Says what it was told to say, and counts."""

    def __init__(self) -> None:
        self.mark = "1"
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return self.mark


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 0.01)


async def following(told: AsyncIterator[str]) -> str:
    return await asyncio.wait_for(anext(told), 5)


def test_all_pages_are_told_by_one_look():
    async def story() -> None:
        look = Looked()
        beat = Pulse(look)
        pages = [beat.listen() for _ in range(3)]
        assert [await following(page) for page in pages] == ["event: change\ndata: 1\n\n"] * 3
        waiting = [asyncio.create_task(following(page)) for page in pages]
        await asyncio.sleep(0.05)
        look.mark = "2"
        assert await asyncio.gather(*waiting) == ["event: change\ndata: 2\n\n"] * 3
        assert beat.listeners == 3
        for page in pages:
            await page.aclose()  # type: ignore[attr-defined]  # it is a generator
        await asyncio.sleep(0.05)
        assert beat.listeners == 0
        seen = look.times
        await asyncio.sleep(0.05)
        assert look.times == seen

    asyncio.run(story())


def test_a_look_that_fails_is_made_again():
    async def story() -> None:
        answers = iter(["1", None, "2"])

        def look() -> str:
            found = next(answers, "2")
            if found is None:
                raise OSError("the catalog is away")
            return found

        page = Pulse(look).listen()
        assert "data: 1" in await following(page)
        assert "data: 2" in await following(page)
        await page.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(story())


def test_a_quiet_stream_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pulse, "_ALIVE_SECONDS", 0.02)

    async def story() -> None:
        page = Pulse(lambda: "1").listen()
        await following(page)
        assert await following(page) == ": still here\n\n"
        await page.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(story())


async def opened_told_and_closed(beat: Pulse, look: Looked, pages: int, times: int) -> None:
    streams = [beat.listen() for _ in range(pages)]
    for stream in streams:
        await following(stream)
    for _ in range(times):
        waiting = [asyncio.create_task(following(stream)) for stream in streams]
        await asyncio.sleep(0.03)
        look.mark = str(look.times)
        await asyncio.gather(*waiting)
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator


def test_memory_stays_flat_however_much_is_told():
    """A page that is open for days costs what it costs in its first minute."""

    async def story() -> int:
        look = Looked()
        beat = Pulse(look)
        for _ in range(2):
            await opened_told_and_closed(beat, look, pages=50, times=5)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(4):
            await opened_told_and_closed(beat, look, pages=50, times=5)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        grown = asyncio.run(story())
    finally:
        tracemalloc.stop()
    # A thousand words were told meanwhile; a few bytes of each may stay.
    assert grown < 20_000, grown


def test_too_many_pages_are_refused():
    beat = Pulse(lambda: "1", listeners=pulse.TOLD_AT_MOST)
    with pytest.raises(RefusedError) as refused:
        beat.listen()
    assert refused.value.fault.status == 503
