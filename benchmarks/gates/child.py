"""One side of a comparison: measures gates by name, as lines of JSON over stdin and stdout.

    python -m benchmarks.gates.child <module with GATES>

Who starts it decides by PYTHONPATH which source is measured.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from time import process_time
from types import FrameType
from typing import Any

from benchmarks.gates.gate import Benchmark, Gate

_SERIES_SECONDS = 0.04
"""How long one series of calls is, at least: the clock of the processor is coarse."""
_SERIES = 3
_MOST_CALLS = 2_000


class Bench:
    """The gates of a module, each made when it is first asked for."""

    def __init__(self, gates: Iterable[Gate]) -> None:
        self._gates = {gate.name: gate for gate in gates}
        self._made: dict[str, Benchmark] = {}

    def answer(self, name: str, *, exact: bool) -> dict[str, Any]:
        """Measure one gate; what goes wrong is told, for whoever compares to judge."""
        try:
            if name not in self._made:
                self._made[name] = self._gates[name].make()
            benchmark = self._made[name]
            found: dict[str, Any] = {"cpu": cpu_seconds(benchmark)}
            if exact:
                found["exact"] = exact_metrics(benchmark)
            return found
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def cpu_seconds(benchmark: Benchmark) -> list[float]:
    """Return the processor seconds of one call, once for each series."""
    took = max(_series(benchmark, 1), 1e-6)
    calls = min(max(1, math.ceil(_SERIES_SECONDS / took)), _MOST_CALLS)
    return [_series(benchmark, calls) / calls for _ in range(_SERIES)]


def exact_metrics(benchmark: Benchmark) -> dict[str, float]:
    """Return what depends on the program alone; the gate has been called before."""
    return {
        "calls": _calls(benchmark.work, benchmark.fresh()),
        "bytes": _peak_bytes(benchmark.work, benchmark.fresh()),
        **benchmark.counts(benchmark.work(benchmark.fresh())),
    }


def _series(benchmark: Benchmark, calls: int) -> float:
    states = [benchmark.fresh() for _ in range(calls)]
    work = benchmark.work
    gc.collect()
    gc.disable()
    try:
        began = process_time()
        for state in states:
            work(state)
        return process_time() - began
    finally:
        gc.enable()


def _calls(work: Callable[[Any], object], state: Any) -> int:
    entered = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal entered
        entered += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work(state)
    finally:
        sys.setprofile(None)
    return entered


def _peak_bytes(work: Callable[[Any], object], state: Any) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        work(state)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def main(module: str) -> int:
    """Answer until nobody asks any more."""
    # Whatever a benchmark prints must not stand between two answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    bench = Bench(importlib.import_module(module).GATES)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(bench.answer(asked["gate"], exact=asked["exact"])), file=answers)
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
