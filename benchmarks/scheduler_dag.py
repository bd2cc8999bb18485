"""The dag after one statement: the edited copy against a full build, in one run.

    python -m benchmarks.scheduler_dag

A warehouse of stream tables in which each reads one to three of what was created shortly before it.
Every round creates a table, alters one, and drops one, each time by an edit and by a full build of
the same edges; both must answer alike.  Then looks as a tick makes them are timed, with nothing
beside them and while another thread builds the dag anew, again and again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median, quantiles
from threading import Event, Thread
from time import perf_counter

from benchmarks.machine import machine
from benchmarks.options import positive
from streamtables.positions import InputId
from streamtables.scheduler.dag import Dag, DagHolder

SIZES = (1_000, 10_000)
MIN_RATIO = 20
MAX_BUILD_SECONDS = 1.0
NEAR = 400
"""Tables read others that were created at most this long before."""

Edges = dict[InputId, tuple[InputId, ...]]


@dataclass(frozen=True)
class Statement:
    """One change of the edges, and the same change of a dag."""

    kind: str
    after: Edges
    edit: Callable[[Dag], Dag]


def warehouse(size: int, random: Random) -> Edges:
    """Return the edges of so many nodes, a twentieth of them sources."""
    nodes = [InputId(f"source_{at:05}") for at in range(size // 20)]
    edges: Edges = {}
    for at in range(len(nodes), size):
        table = InputId(f"table_{at:05}")
        edges[table] = _some(nodes[-NEAR:], random)
        nodes.append(table)
    return edges


def statements(edges: Edges, random: Random) -> list[Statement]:
    """Return a CREATE, an ALTER and a DROP, each on the same edges."""
    tables = list(edges)
    read = {name for inputs in edges.values() for name in inputs}
    new, inputs = InputId("table_new"), _some(tables, random)
    at = random.randrange(NEAR, len(tables))
    altered, others = tables[at], _some(tables[at - NEAR : at], random)
    dropped = random.choice([table for table in tables if table not in read])
    return [
        Statement("create", {**edges, new: inputs}, lambda dag: dag.with_table(new, inputs)),
        Statement("alter", {**edges, altered: others}, lambda dag: dag.with_table(altered, others)),
        Statement(
            "drop",
            {name: read for name, read in edges.items() if name != dropped},
            lambda dag: dag.without(dropped),
        ),
    ]


def main() -> int:
    """Measure and show; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=positive, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=positive, default=15)
    given = parser.parse_args()
    found = machine()
    print(f"{found['cores']} cores ({found['processor']}), load {found['load_before']} before")
    return 0 if all([_measured(size, given.rounds) for size in given.sizes]) else 1


def _measured(size: int, rounds: int) -> bool:
    random = Random(size)
    edges = warehouse(size, random)
    dag = Dag.build(edges)
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        # Side by side, so that a busy neighbour meets both.
        for statement in statements(edges, random):
            times.setdefault(statement.kind, []).append(_both(dag, statement))
    print(f"{size:,} nodes, {len(dag.levels())} levels, {rounds} statements of each kind")
    good = all([_shown(kind, pairs) for kind, pairs in times.items()])
    _show_looks(edges, dag, rounds * max(1, 20_000 // size))
    return good


def _show_looks(edges: Edges, dag: Dag, looks: int) -> None:
    """Time looks at the dag that holds, alone and beside full builds of it."""
    holder = DagHolder(dag)
    alone = _look_times(holder, edges, looks)
    stop = Event()
    builder = Thread(target=_build_on, args=(holder, stop))
    builder.start()
    try:
        beside = _look_times(holder, edges, looks)
    finally:
        stop.set()
        builder.join()
    typical, slow = 1e3 * median(beside), 1e3 * max(beside)
    print(
        f"  looks   {1e3 * median(alone):8.3f} ms alone   {typical:8.3f} ms beside full builds "
        f"(the slowest {slow:8.3f})"
    )


def _build_on(holder: DagHolder, stop: Event) -> None:
    while not stop.is_set():
        holder.repack()


def _look_times(holder: DagHolder, edges: Edges, looks: int) -> list[float]:
    """Return how long it takes to find what stands on a source, of so many of them."""
    sources = sorted({name for inputs in edges.values() for name in inputs} - edges.keys())
    found = []
    for number in range(looks):
        began = perf_counter()
        holder.current.affected([sources[number % len(sources)]])
        found.append(perf_counter() - began)
    return found


def _both(dag: Dag, statement: Statement) -> tuple[float, float]:
    began = perf_counter()
    edited = statement.edit(dag)
    between = perf_counter()
    built = Dag.build(statement.after)
    ended = perf_counter()
    assert edited.levels() == built.levels()
    return between - began, ended - between


def _shown(kind: str, pairs: list[tuple[float, float]]) -> bool:
    edit, full = (median(pair[place] for pair in pairs) for place in (0, 1))
    slow = quantiles((pair[0] for pair in pairs), n=10)[-1] if len(pairs) > 1 else edit
    ratio = full / edit
    print(
        f"  {kind:<6}  edit {1e3 * edit:8.3f} ms (one in ten over {1e3 * slow:8.3f})   "
        f"full build {1e3 * full:7.1f} ms   ratio {ratio:8,.0f} (bar {MIN_RATIO})"
    )
    return ratio >= MIN_RATIO and full <= MAX_BUILD_SECONDS


def _some(nodes: list[InputId], random: Random) -> tuple[InputId, ...]:
    return tuple(random.sample(nodes, random.choice((1, 1, 2, 3))))


if __name__ == "__main__":
    sys.exit(main())
