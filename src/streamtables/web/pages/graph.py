"""The graph page: from sources to tables, closed namespaces where there are many, search."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from streamtables.answers import Graph, GraphNode
from streamtables.web.conditions import WORDS, WORST_FIRST, Condition, Word, conditions
from streamtables.web.drawing.graph_svg import Box, graph_svg
from streamtables.web.rendering import render, seconds, table_address
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)
OPEN_UPTO = 120
"""So many boxes are shown one by one; beyond it namespaces are closed."""

Text = Annotated[str, Query(max_length=200)]


@routes.get("/graph", response_class=HTMLResponse)
def graph(request: Request, q: Text = "", ns: Text = "", view: Text = "") -> str:
    """Show who reads whom; `q` keeps what matches and its neighbours, `ns` opens a namespace."""
    facts = shared_of(request).facts
    whole = facts.graph()
    known = {item.name: item for item in conditions(facts)}
    kept = _kept(whole, q.strip().lower())
    closed = view != "open" and not q and (view == "closed" or len(kept) > OPEN_UPTO)
    keys = {node.name: _key(node, closed=closed, opened=ns) for node in kept}
    boxes = _boxes(kept, keys, known)
    edges = [(keys[a], keys[b]) for a, b in whole.edges if a in keys and b in keys]
    return render(
        "graph.html",
        request,
        svg=graph_svg(boxes, [(a, b) for a, b in edges if a != b]),
        shown=len(kept),
        boxes=len(boxes),
        total=len(whole.nodes),
        matches=_matches(whole, q.strip().lower()),
        q=q,
        ns=ns,
        closed=closed,
        words=WORDS,
        namespaces=sorted({node.namespace for node in whole.nodes}),
    )


def _matches(graph: Graph, text: str) -> int:
    return sum(text in node.name.lower() for node in graph.nodes) if text else 0


def _kept(graph: Graph, text: str) -> list[GraphNode]:
    """Return the nodes that match, with all that they stand on and all that stands on them."""
    if not text:
        return list(graph.nodes)
    found = {node.name for node in graph.nodes if text in node.name.lower()}
    below, above = defaultdict(list), defaultdict(list)
    for read, reader in graph.edges:
        below[reader].append(read)
        above[read].append(reader)
    kept = _reached(found, below) | _reached(found, above)
    return [node for node in graph.nodes if node.name in kept]


def _reached(start: Iterable[str], edges: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    pending = list(start)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += edges.get(name, ())
    return found


def _key(node: GraphNode, *, closed: bool, opened: str) -> str:
    """Return the box of a node: its own, or that of its namespace and level.

    One box per level keeps the graph free of cycles, which namespaces that read each other have.
    """
    if not closed or node.namespace == opened.lower():
        return node.name
    return f"{node.namespace} / {node.kind} / {node.level}"


def _boxes(
    nodes: Sequence[GraphNode], keys: dict[str, str], known: dict[str, Condition]
) -> list[Box]:
    members: dict[str, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        members[keys[node.name]].append(node)
    return [
        _single(found[0], known) if key == found[0].name else _namespace(key, found, known)
        for key, found in members.items()
    ]


def _single(node: GraphNode, known: dict[str, Condition]) -> Box:
    if node.kind == "source":
        return Box(
            node.name, 0, node.name, "source", "source", "source", "/sources", f"source {node.name}"
        )
    found = known.get(node.name)
    word = found.condition if found else "unfilled"
    return Box(
        node.name, node.level, node.name, box_note(found), "table", word,
        table_address(node.name), f"{node.name}: {WORDS[word]}",
    )  # fmt: skip


def box_note(found: Condition | None) -> str:
    """Return what a box says below its name."""
    if found is None:
        return "unfilled"
    lag = f" · lag {seconds(found.lag_seconds)}" if found.lag_seconds else ""
    return f"{found.condition}{lag}"


def _namespace(key: str, nodes: Sequence[GraphNode], known: dict[str, Condition]) -> Box:
    first = nodes[0]
    address = f"/graph?view=closed&ns={quote(first.namespace, safe='')}"
    if first.kind == "source":
        text = f"{len(nodes):,} sources"
        return Box(key, 0, first.namespace, text, "namespace", "source", address, f"{key}: {text}")
    counts = Counter(known[node.name].condition for node in nodes if node.name in known)
    worst: Word = next((word for word in WORST_FIRST if counts[word]), "unfilled")
    said = ", ".join(f"{counts[word]:,} {word}" for word in WORST_FIRST if counts[word])
    ill = f", {counts[worst]:,} {worst}" if worst != "fresh" else ""
    text = f"{len(nodes):,} tables{ill}"
    return Box(
        key, first.level, first.namespace, text, "namespace", worst, address, f"{key}: {said}"
    )
