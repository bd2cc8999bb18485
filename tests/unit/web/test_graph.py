"""The graph: levels, places, closed namespaces, search, and a thousand tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.web.drawing.graph_layout import BOX_HEIGHT, BOX_WIDTH, layout
from tests.support.large_catalog import fill_catalog
from tests.support.web_warehouse import WebWarehouse
from tests.unit.web.conftest import client_of


def names_in(page: str) -> list[str]:
    return re.findall(r'class="node [^"]*" data-name="([^"]+)"', page)


def test_the_graph_has_levels_and_edges(shop: WebWarehouse):
    graph = shop.db.graph()
    levels = {node.name: node.level for node in graph.nodes}
    assert levels["orders"] == 0
    assert levels["sales.revenue"] == 1
    assert levels["finance.totals"] == 2
    assert ("orders", "sales.revenue") in graph.edges
    assert ("sales.revenue", "finance.totals") in graph.edges
    assert all(levels[read] < levels[reader] for read, reader in graph.edges)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
)
def test_no_two_boxes_overlap_and_all_stand_in_the_picture(levels, pairs):
    keys = {f"n{index}": level for index, level in enumerate(levels)}
    edges = [
        (f"n{a}", f"n{b}")
        for a, b in pairs
        if a < len(levels) and b < len(levels) and levels[a] < levels[b]
    ]
    found = layout(keys, edges)
    columns: dict[int, list[int]] = {}
    for spot in found.spots.values():
        assert 0 <= spot.x <= found.width - BOX_WIDTH
        assert 0 <= spot.y <= found.height - BOX_HEIGHT
        columns.setdefault(spot.x, []).append(spot.y)
    for places in columns.values():
        assert all(b - a >= BOX_HEIGHT for a, b in pairwise(sorted(places)))
    for read, reader in edges:
        assert found.spots[read].x < found.spots[reader].x


def test_boxes_are_coloured_by_condition_and_lead_to_their_page(client: TestClient):
    page = client.get("/graph").text
    assert re.search(r'href="/tables/finance.totals" class="node table is-failed"', page)
    assert re.search(r'href="/tables/sales.revenue" class="node table is-fresh"', page)
    assert re.search(r'href="/sources" class="node source is-source" data-name="orders"', page)


def test_a_search_keeps_what_matches_and_its_neighbours(client: TestClient):
    found = set(names_in(client.get("/graph?q=sales.rev").text))
    assert found == {"orders", "customers", "sales.revenue", "sales.regions", "finance.totals"}
    assert names_in(client.get("/graph?q=nothing").text) == []


def test_a_closed_namespace_is_one_box_per_level_and_opens(client: TestClient):
    closed = names_in(client.get("/graph?view=closed").text)
    assert "sales / stream-table / 1" in closed
    assert "sales.revenue" not in closed
    opened = names_in(client.get("/graph?view=closed&ns=sales").text)
    assert "sales.revenue" in opened
    assert "finance / stream-table / 1" in opened


def test_a_thousand_tables_are_shown_and_searched(
    tmp_path: Path, record_property: Callable[[str, object], None]
):
    with StreamTables(tmp_path / "warehouse") as db:
        fill_catalog(db)
        shop = WebWarehouse(db, None, None)  # type: ignore[arg-type]  # no source is on disk
        with client_of(shop) as client:
            client.get("/api/conditions")
            measured: dict[str, tuple[float, int, int]] = {}
            for address in ("/graph", "/graph?view=open", "/graph?q=table_0777", "/"):
                start = perf_counter()
                page = client.get(address).text
                measured[address] = (perf_counter() - start, len(page), len(names_in(page)))
    for address, (took, size, boxes) in measured.items():
        print(f"{address}: {took:.3f} s, {size:,} bytes, {boxes:,} boxes")
        record_property(address, f"{took:.3f} s, {size:,} bytes, {boxes:,} boxes")
    # Closed, it is small; open, it is whole; searched, it is the one table and its neighbours.
    assert measured["/graph"][2] == 20 * 4 + 1
    assert measured["/graph"][1] < 150_000
    assert measured["/graph?view=open"][2] == 1_100
    assert measured["/graph?view=open"][1] < 1_500_000
    assert 1 < measured["/graph?q=table_0777"][2] < 60
    assert all(took < 5.0 for took, _, _ in measured.values())
