"""Threads that stay against a thread per task, four at a time, for tasks of several lengths.

    python -m benchmarks.scheduler_pool
    python -m benchmarks.scheduler_pool --setup-ms 5

A task waits, as a refresh waits for Spark.  `--setup-ms` is what a thread needs before its first
task: threads that stay pay it once.  About two is what the first call to Spark takes.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from threading import Semaphore
from time import perf_counter, sleep

from benchmarks.machine import machine
from benchmarks.options import positive
from streamtables.scheduler.pool import WorkerPool
from streamtables.scheduler.workers import CROSSOVER_SECONDS

SLOTS = 4
TASKS = {0.0: 2_000, 0.001: 1_000, 0.010: 200, 0.100: 40}
WORTH = 0.05
"""A share of the time that is worth keeping threads for."""


def main() -> int:
    """Measure and show; there is no bar, as the answer is a choice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--setup-ms", type=float, default=0.0)
    given = parser.parse_args()
    found = machine()
    print(f"{found['cores']} cores ({found['processor']}), load {found['load_before']} before")
    print(f"{SLOTS} at a time, {given.setup_ms:g} ms to set a thread up, median of {given.rounds}")
    print("  task      threads that stay   thread per task     saved")
    setup = given.setup_ms / 1_000
    gains = {seconds: _row(seconds, setup, given.rounds) for seconds in TASKS}
    _crossover(gains)
    return 0


def _row(seconds: float, setup: float, rounds: int) -> tuple[float, float]:
    """Measure both ways in turn; return seconds of a slot per task."""
    # In turn, so that a busy neighbour meets both.
    pairs = [tuple(_measured(size, seconds, setup) for size in (SLOTS, 0)) for _ in range(rounds)]
    stay, each = (median(pair[place] for pair in pairs) for place in (0, 1))
    print(
        f"  {1e3 * seconds:5.0f} ms  {1e3 * stay:12.3f} ms  {1e3 * each:15.3f} ms"
        f"  {(each - stay) / each:10.1%}"
    )
    return stay, each


def _measured(size: int, seconds: float, setup: float) -> float:
    free = Semaphore(SLOTS)

    def task() -> None:
        try:
            if seconds:
                sleep(seconds)
        finally:
            free.release()

    def prepare() -> None:
        if setup:
            sleep(setup)

    began = perf_counter()
    with WorkerPool(size, on_thread_start=prepare) as pool:
        for _ in range(TASKS[seconds]):
            free.acquire()
            pool.submit(task)
    return SLOTS * (perf_counter() - began) / TASKS[seconds]


def _crossover(times: dict[float, tuple[float, float]]) -> None:
    """Say from which length of task on the threads that stay are no longer worth it."""
    extra = median(each - stay for stay, each in times.values())
    print(f"A thread per task costs {1e3 * extra:.3f} ms more per task (median of the rows).")
    needless = [seconds for seconds, (stay, each) in times.items() if each - stay < WORTH * each]
    if needless:
        print(f"From {1e3 * min(needless):g} ms on it costs less than {WORTH:.0%} of the time;")
    print(f"by the extra cost alone, from {1e3 * extra / WORTH:.1f} ms on.")
    print(f"`auto` changes over at {1e3 * CROSSOVER_SECONDS:g} ms.")


if __name__ == "__main__":
    sys.exit(main())
