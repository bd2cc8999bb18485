"""The graph as SVG: a box per source, table or closed namespace, each a link to its page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from streamtables.web.drawing.graph_layout import BOX_HEIGHT, BOX_WIDTH, Layout, layout

_CHARACTERS = 23


@dataclass(frozen=True)
class Box:
    """One box: what stands in it, and where it leads."""

    key: str
    level: int
    title: str
    note: str
    kind: str
    """`source`, `table` or `namespace`."""
    condition: str
    address: str
    hint: str


def graph_svg(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> Markup:
    """Return the picture; boxes of one level stand in one column."""
    joined = sorted(set(edges))
    places = layout({box.key: box.level for box in boxes}, joined)
    drawn = [_edge(places, one, other) for one, other in joined]
    drawn += [_box(places, box) for box in boxes]
    head = (
        f'<svg class="graph" width="{places.width}" height="{places.height}" '
        f'viewBox="0 0 {places.width} {places.height}" role="group" '
        'aria-label="What reads what, from sources on the left to tables on the right">'
    )
    return Markup(head + "".join(drawn) + "</svg>")


def _edge(places: Layout, one: str, other: str) -> str:
    start, end = places.spots[one], places.spots[other]
    x1, y1 = start.x + BOX_WIDTH, start.y + BOX_HEIGHT // 2
    x2, y2 = end.x, end.y + BOX_HEIGHT // 2
    middle = (x1 + x2) // 2
    return f'<path class="edge" d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"/>'


def _box(places: Layout, box: Box) -> str:
    spot = places.spots[box.key]
    # The name in full is in the title, and in what a search looks at.
    return (
        f'<a href="{escape(box.address)}" class="node {box.kind} is-{box.condition}" '
        f'data-name="{escape(box.key)}"><title>{escape(box.hint)}</title>'
        f'<rect x="{spot.x}" y="{spot.y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>'
        f'<rect class="flag" x="{spot.x}" y="{spot.y}" width="5" height="{BOX_HEIGHT}" rx="2"/>'
        f'<text x="{spot.x + 13}" y="{spot.y + 15}">{escape(_cut(box.title))}</text>'
        f'<text class="note" data-fact="note" x="{spot.x + 13}" y="{spot.y + 28}">'
        f"{escape(box.note)}</text></a>"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
