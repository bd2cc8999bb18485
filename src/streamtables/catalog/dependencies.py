"""Who reads whom: pure questions about the graph of inputs.

`Edges` maps each stream table to the inputs that it reads directly.  Sources have no entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError as GraphCycle
from graphlib import TopologicalSorter

from streamtables.positions import InputId

Edges = Mapping[InputId, Iterable[InputId]]


def find_cycle(edges: Edges) -> tuple[InputId, ...] | None:
    """Return a path that ends where it starts, each table reading the next one, or None."""
    try:
        TopologicalSorter(edges).prepare()
    except GraphCycle as exc:
        # graphlib lists each node before the one that reads it; a reader comes first here.
        return tuple(reversed(exc.args[1]))
    return None


def topological_order(edges: Edges) -> tuple[InputId, ...]:
    """Return the stream tables with every table after all that it reads.

    The order depends on the edges alone, not on the order in which they are given.
    """
    ordered = {table: sorted(edges[table]) for table in sorted(edges)}
    return tuple(node for node in TopologicalSorter(ordered).static_order() if node in edges)


def ancestors(edges: Edges, table: InputId) -> frozenset[InputId]:
    """Return everything that `table` reads, directly or through other stream tables."""
    return _reached(edges, table)


def dependants(edges: Edges, input_id: InputId) -> frozenset[InputId]:
    """Return every stream table that reads `input_id`, directly or through others."""
    return _reached(readers(edges), input_id)


def readers(edges: Edges) -> dict[InputId, list[InputId]]:
    """Return the edges turned round: input → stream tables that read it directly."""
    turned: dict[InputId, list[InputId]] = {}
    for table, inputs in edges.items():
        for input_id in inputs:
            turned.setdefault(input_id, []).append(table)
    return turned


def roots(edges: Edges, table: InputId) -> frozenset[InputId]:
    """Return the sources that `table` stands on: its ancestors that are no stream tables."""
    return frozenset(node for node in ancestors(edges, table) if node not in edges)


def _reached(edges: Edges, start: InputId) -> frozenset[InputId]:
    found: set[InputId] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(edges.get(node, ()))
    return frozenset(found)
