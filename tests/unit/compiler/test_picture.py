"""The picture of a plan is sound SVG with every operator, and no two boxes overlap."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from streamtables.compiler.explaining.layout import Place, placed
from streamtables.compiler.explaining.picture import RowCounts, picture
from streamtables.compiler.rewrites.rebuild import in_order
from tests.golden.golden import Golden
from tests.unit.compiler.tables import compiled

GOLDEN = [
    path
    for path in sorted((Path(__file__).parents[2] / "golden").rglob("*.sql"))
    if path.stem != "refused"
]
NAMESPACE = "{http://www.w3.org/2000/svg}"


def boxes(svg: str) -> list[tuple[float, float]]:
    found = ElementTree.fromstring(svg).iter(f"{NAMESPACE}rect")
    drawn = [item.attrib for item in found if item.attrib["class"] == "box"]
    return [(float(item["x"]), float(item["y"])) for item in drawn]


def texts(svg: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(svg).iter(f"{NAMESPACE}text")]


def test_a_tree_stands_above_the_middle_of_its_inputs():
    assert placed([[1, 2], [], [3], []]) == [
        Place(0.5, 0),
        Place(0.0, 1),
        Place(1.0, 1),
        Place(1.0, 2),
    ]


def test_boxes_that_share_an_input_are_moved_apart():
    assert placed([[1, 2], [3], [3], []])[1:3] == [Place(0.0, 1), Place(1.0, 1)]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_operator_has_a_box_of_its_own_place(path: Path):
    plan = Golden.read(path).plan()
    found = boxes(picture(plan, "t"))
    assert len(found) == len(in_order(plan.definition)) + 1
    for (x1, y1), (x2, y2) in combinations(found, 2):
        assert abs(x1 - x2) >= 304 or abs(y1 - y2) >= 66


def test_row_counts_stand_where_the_rows_were_read_and_written():
    svg = picture(compiled("SELECT id FROM orders"), "t", RowCounts({"orders": 1_200}, 7, 2))
    assert "1,200 changed · O(changed rows)" in texts(svg)
    assert "last refresh: +7 −2 rows" in texts(svg)


def test_without_a_past_there_are_no_row_counts():
    shown = texts(picture(compiled("SELECT id FROM orders"), "t"))
    assert "O(changed rows)" in shown
    assert not any("last refresh" in text for text in shown)


def test_a_refused_query_shows_what_it_reads():
    svg = picture(compiled("SELECT id, rand() AS r FROM orders"), "t")
    assert texts(svg)[:3] == ["t", "result", "kept by full refreshes"]
    assert "orders" in texts(svg)


def test_markup_in_a_query_stays_text():
    svg = picture(compiled("SELECT id FROM orders WHERE note < '<b>&'"), "t")
    assert any("<b>&" in text for text in texts(svg))
