"""What a notebook shows; names are text, whatever is in them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamtables.errors import TransientError
from streamtables.explanation import Explanation
from streamtables.graph import Graph, GraphNode
from streamtables.notebook.displays import (
    explanation_html,
    graph_html,
    refresh_html,
    verification_html,
)
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.verify import Verification

AWFUL = "<script>alert(1)</script>"


def test_a_refresh_tells_rows_seconds_and_the_reason() -> None:
    done = Refresh(
        "sums", "differential", "applied", Reason("changes", "3 changed rows"), 5, 1_200,
        seconds=0.31, steps=(("bind", 0.1), ("apply", 0.2)), notes=("a note",),
    )  # fmt: skip
    shown = refresh_html(done)
    for text in (
        "sums",
        "differential",
        "+5 −1,200",
        "0.31 s",
        "3 changed rows",
        "bind 0.10 s",
        "a note",
    ):
        assert text in shown


def test_a_failure_is_shown() -> None:
    failed = Refresh("s", "full", "failed", Reason("x", "y"), error=TransientError("no luck"))
    assert "no luck" in refresh_html(failed)


def test_a_difference_is_shown_with_rows() -> None:
    sample = pa.table({"a": [1], "__st_weight": [-1]})
    equal = Verification("s", True, 0, 0, sample, 3)
    assert "equal to its query at version 3" in verification_html(equal)
    shown = verification_html(Verification("s", False, 0, 1, sample, 3))
    assert "1 are too many" in shown
    assert "<td>1</td><td>-1</td>" in shown


def test_a_plan_is_a_picture_with_words_below() -> None:
    shown = explanation_html(Explanation("a < b", svg="<svg/>"))
    assert shown.startswith("<svg/>")
    assert "a &lt; b" in shown


def test_a_graph_has_a_line_for_each_level() -> None:
    nodes = [("t", "source", 0), ("s", "stream-table", 1), ("r", "stream-table", 2)]
    graph = Graph(
        tuple(GraphNode(name, kind, "", level) for name, kind, level in nodes),  # type: ignore[arg-type]  # from a list of texts
        (("t", "s"), ("t", "r"), ("s", "r")),
    )
    shown = graph_html(graph)
    assert shown.count("↓") == 2
    assert 'title="reads t, s"' in shown
    assert "nothing is defined" in graph_html(Graph((), ()))


@pytest.mark.parametrize(
    "shown",
    [
        refresh_html(Refresh(AWFUL, "full", "applied", Reason("x", AWFUL), notes=(AWFUL,))),
        verification_html(Verification(AWFUL, True, 0, 0, pa.table({}), 1)),
        explanation_html(Explanation(AWFUL)),
        graph_html(Graph((GraphNode(AWFUL, "source", "", 0),), ())),
    ],
)
def test_names_are_never_markup(shown: str) -> None:
    assert AWFUL not in shown
    assert "&lt;script&gt;" in shown
