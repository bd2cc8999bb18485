"""Gates of what happens before a refresh computes: the graph, the plan at hand, the way it goes."""

from __future__ import annotations

from atexit import register
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gates.gate import Benchmark, Gate

NODES = 1_000


def gates() -> Iterator[Gate]:
    """Yield the gates of scheduling and choosing."""
    yield Gate("dag-build", _dag_build)
    yield Gate("dag-edit", _dag_edit)
    # A hit takes microseconds, or a look into a file: the clock weighs more than the program.
    yield Gate("plan-cache-hit-l1", partial(_plan_cache, "l1"), {"cpu": 1.4})
    yield Gate("plan-cache-hit-l0", partial(_plan_cache, "l0"), {"cpu": 1.4})
    yield Gate("hash-definition", _hash)
    yield Gate("decide", _decide)
    yield Gate("predict", _predict)


def _dag_build() -> Benchmark:
    """Measure the graph of a warehouse, built from its edges."""
    from benchmarks.scheduler_dag import warehouse
    from streamtables.scheduler.dag import Dag

    edges = warehouse(NODES, Random(1))
    return Benchmark(lambda _: Dag.build(edges).levels())


def _dag_edit() -> Benchmark:
    """Measure a CREATE, an ALTER and a DROP in the same graph."""
    from benchmarks.scheduler_dag import statements, warehouse
    from streamtables.scheduler.dag import Dag

    random = Random(1)
    edges = warehouse(NODES, random)
    dag, edits = Dag.build(edges), statements(edges, random)
    return Benchmark(lambda _: [edit.edit(dag).levels() for edit in edits])


def _plan_cache(side: str) -> Benchmark:
    """Measure what a small refresh asks of its plan, where a cache holds it."""
    from benchmarks.plan_cache import Bench, cases

    bench = Bench(_kept_folder(), *cases()["TPC-H q8"])
    register(bench.close)
    return Benchmark(bench.ask, bench.sides()[side])


def _hash() -> Benchmark:
    """Measure the name of a plan: a digest of the query and of all that it reads."""
    from benchmarks.plan_cache import Bench, cases
    from streamtables.refresh.plan_cache.basis import Basis

    bench = Bench(_kept_folder(), *cases()["TPC-H q8"])
    register(bench.close)
    return Benchmark(lambda _: Basis.of(bench.table, bench.definitions).fingerprint())


def _decide() -> Benchmark:
    """Measure the choice of a way, from facts that lead to each of its answers."""
    from streamtables.refresh.cost_model import Prediction
    from streamtables.refresh.decide import Facts, decide

    guesses: Any = {
        "changes": Prediction(4.0, like=3),
        "whole": Prediction(3.0, like=3),
        "full": Prediction(3.5, like=3),
    }
    known: Any = {"filled": True, "changed_rows": 1_000, "source_rows": 10**6}
    facts = [
        Facts("auto", filled=False),
        Facts("full", **known),
        Facts("auto", **known),
        Facts("auto", **known, small=False),
        Facts("auto", **known, predicted=guesses),
        Facts("auto", **known, predicted=guesses, untried={"full": 30}),
        Facts("differential", **known, predicted=guesses),
    ]
    return Benchmark(lambda _: [decide(item) for item in facts])


def _predict() -> Benchmark:
    """Measure what each way would take, from thirty refreshes of the past."""
    from streamtables.refresh.cost_model import WAYS, Sample, Work, predict
    from streamtables.refresh.cost_rates import RATES

    random = Random(1)
    past = [
        Sample(
            random.choice(WAYS), Work(2, random.randrange(10_000), 10**6, 1_000), random.random()
        )
        for _ in range(30)
    ]
    work = Work(2, 1_000, 10**6, 1_000)
    return Benchmark(lambda _: [predict(way, work, past, RATES) for way in WAYS])


def _kept_folder() -> Path:
    """Return a folder that stays until the process ends."""
    folder = TemporaryDirectory(prefix="streamtables-gates-")
    register(folder.cleanup)
    return Path(folder.name)
