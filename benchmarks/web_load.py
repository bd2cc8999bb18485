"""What open pages cost the scheduler: idle ticks alone, and while many browsers look on.

    python -m benchmarks.web_load --seconds 3600    # an hour of server-sent events

The warehouse has a thousand tables.  Each browser holds a stream of events and loads the overview
every few seconds.  Ticks alone and ticks with browsers take turns, so that a busy machine weighs on
both; the pages are served by a process of their own (`serve`), or by the one that ticks
(`run --serve`).  The memory of the process that serves is read after a warm-up and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from threading import Event
from time import perf_counter, sleep

import httpx

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import add_results_option, at_most, only_shown, report
from benchmarks.scheduler_report import one_in_twenty
from benchmarks.scheduler_warehouse import Clock, fill
from streamtables.api import StreamTables
from streamtables.web.serving import Address, Opened, served_beside

TICK_SECONDS = 0.1
LOADS_EVERY = 5.0
ROUNDS = 6
WAYS = ("apart", "beside")
BAR = 1.10
MEMORY_BAR = 1.10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show, or be one of the processes that this takes."""
    options = _options(arguments)
    if options.serve:
        return _serve(options.serve)
    if options.look:
        return asyncio.run(_look(options.look, options.browsers, options.seconds))
    results = conditions() | {"tables": options.tables, "browsers": options.browsers, "items": []}
    bars: list[Bar] = []
    for way in options.ways:
        with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder:
            item = measured(Path(folder), way, options)
        results["items"].append(item)
        bars += list(_bars(item))
    return report(results, bars, options.results, "web_load")


def measured(folder: Path, way: str, options: argparse.Namespace) -> Results:
    """Return what ticks take, alone and beside browsers."""
    clock, each = Clock(), max(2.0, options.seconds / (2 * ROUNDS))
    times: dict[str, list[float]] = {"alone": [], "looked at": []}
    memory: list[int] = []
    loads = 0
    with StreamTables(folder / "warehouse", clock=clock) as db:
        fill(db, folder / "sources", options.tables)
        db.tick()
        with served(db, folder / "warehouse", way) as (url, pid):
            for _ in range(ROUNDS):
                times["alone"] += _ticks(db, clock, each)
                with _browsers(url, options.browsers, each) as looking:
                    times["looked at"] += _ticks(db, clock, each)
                loads += int(looking.communicate()[0])
                memory.append(_resident(pid))
    return {
        "way": way,
        "seconds": 2 * ROUNDS * each,
        "p95": {name: one_in_twenty(found) for name, found in times.items()},
        "median": {name: median(found) for name, found in times.items()},
        "loads": loads,
        "memory": memory,
    }


@contextmanager
def served(db: StreamTables, warehouse: Path, way: str) -> Iterator[tuple[str, int]]:
    """Have pages served; give their address, and the process that serves them."""
    if way == "beside":
        told: list[Opened] = []
        with served_beside(db, Address(port=0), told.append):
            yield told[0].url, os.getpid()
        return
    command = [sys.executable, "-m", "benchmarks.web_load", "--serve", str(warehouse)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def _ticks(db: StreamTables, clock: Clock, seconds: float) -> list[float]:
    found, ends = [], perf_counter() + seconds
    while perf_counter() < ends:
        clock.forward(1)
        began = perf_counter()
        db.tick()
        found.append(perf_counter() - began)
        sleep(TICK_SECONDS)
    return found


@contextmanager
def _browsers(url: str, count: int, seconds: float) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "benchmarks.web_load", "--look", url]
    command += ["--browsers", str(count), "--seconds", str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    # Its first line says that all streams are open.
    process.stdout.readline()
    yield process


async def _look(url: str, count: int, seconds: float) -> int:
    """Be so many browsers for so long; print how many pages they loaded."""
    limits = httpx.Limits(max_connections=2 * count + 10)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=None) as client:
        opened = [asyncio.Event() for _ in range(count)]
        streams = [asyncio.create_task(_listen(client, event)) for event in opened]
        for event in opened:
            await event.wait()
        print("open", flush=True)
        pages = [_load(client, number * LOADS_EVERY / count, seconds) for number in range(count)]
        loads = await asyncio.gather(*pages)
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
    print(sum(loads), flush=True)
    return 0


async def _listen(client: httpx.AsyncClient, opened: asyncio.Event) -> None:
    while True:
        with suppress(httpx.RemoteProtocolError):
            async with client.stream("GET", "/api/changes") as answer:
                answer.raise_for_status()
                async for _ in answer.aiter_lines():
                    opened.set()


async def _load(client: httpx.AsyncClient, first: float, seconds: float) -> int:
    loads, at = 0, first
    began = perf_counter()
    while at < seconds:
        await asyncio.sleep(max(0.0, began + at - perf_counter()))
        (await client.get("/")).raise_for_status()
        loads, at = loads + 1, at + LOADS_EVERY
    return loads


def _serve(warehouse: str) -> int:
    with (
        StreamTables(warehouse, clock=Clock()) as db,
        served_beside(db, Address(port=0), lambda found: print(found.url, flush=True)),
    ):
        Event().wait()
    return 0


def _resident(pid: int) -> int:
    """Return the memory that a process holds, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def _bars(item: Results) -> Iterator[Bar]:
    way, p95 = item["way"], item["p95"]
    what = f"idle ticks while browsers look on, pages served {way}: 95 in 100"
    yield at_most(what, p95["looked at"] / p95["alone"], BAR)
    yield only_shown(
        "… milliseconds, alone and looked at",
        " and ".join(f"{1e3 * p95[name]:.2f}" for name in ("alone", "looked at")),
    )
    yield only_shown(
        "… medians",
        " and ".join(f"{1e3 * item['median'][name]:.2f}" for name in ("alone", "looked at")),
    )
    yield only_shown("… pages loaded", f"{item['loads']:,}")
    minutes = item["seconds"] / 60
    memory = (
        f"memory of the process that serves, after {minutes:.0f} minutes against the first sixth"
    )
    yield at_most(memory, item["memory"][-1] / item["memory"][0], MEMORY_BAR)
    yield only_shown("… megabytes at the end", f"{item['memory'][-1] / 1e6:.0f}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.web_load",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--tables", type=positive, default=1_000)
    parser.add_argument("--browsers", type=positive, default=50)
    parser.add_argument(
        "--seconds", type=float, default=240.0, help="how long each way is measured"
    )
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--look", help=argparse.SUPPRESS)
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
