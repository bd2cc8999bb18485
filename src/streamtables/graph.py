"""Who reads whom, for people: sources and stream tables with their levels.

Internal tables are part of their owner: what they read, it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.catalog.definitions import Definitions
from streamtables.positions import InputId
from streamtables.scheduler.holds import namespace_of

NodeKind = Literal["source", "stream-table"]


@dataclass(frozen=True)
class GraphNode:
    """A source or a stream table; a source has level 0, a table one more than its highest input."""

    name: str
    kind: NodeKind
    namespace: str
    level: int


@dataclass(frozen=True)
class Graph:
    """All nodes, by level and name, and the edges from what is read to who reads it."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[tuple[str, str], ...]


def graph_of(definitions: Definitions) -> Graph:
    """Return the graph of what is defined."""
    levels: dict[str, int] = {source.name: 0 for source in definitions.sources.values()}
    nodes = [GraphNode(name, "source", namespace_of(name), 0) for name in levels]
    edges: set[tuple[str, str]] = set()
    for key in definitions.order:
        table = definitions.stream_tables[key]
        if table.is_internal:
            continue
        inputs = _inputs(key, definitions)
        levels[table.name] = 1 + max((levels[name] for name in inputs), default=0)
        namespace = namespace_of(table.name)
        nodes.append(GraphNode(table.name, "stream-table", namespace, levels[table.name]))
        edges |= {(name, table.name) for name in inputs}
    ordered = sorted(nodes, key=lambda node: (node.level, node.name.lower()))
    return Graph(tuple(ordered), tuple(sorted(edges)))


def _inputs(table_id: InputId, definitions: Definitions) -> set[str]:
    """Return the names of what a table reads, through its internal tables."""
    found: set[str] = set()
    pending = list(definitions.edges[table_id])
    while pending:
        item = pending.pop()
        table = definitions.stream_tables.get(item)
        if table is not None and table.is_internal:
            pending += definitions.edges[item]
        elif table is not None:
            found.add(table.name)
        elif item in definitions.sources:
            found.add(definitions.sources[item].name)
    return found
