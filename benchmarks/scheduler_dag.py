"""The dag after one statement: the edited copy against a full build, in one run.

    python -m benchmarks.scheduler_dag

A warehouse of stream tables in which each reads one to three of what was created shortly before it.
Every round creates a table, alters one, and drops one, each time by an edit and by a full build of
the same edges; both must answer alike.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median, quantiles
from time import perf_counter

from benchmarks.machine import machine
from benchmarks.options import positive
from streamtables.positions import InputId
from streamtables.scheduler.dag import Dag

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
    return all([_shown(kind, pairs) for kind, pairs in times.items()])


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
