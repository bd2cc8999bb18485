"""A plan as a picture: one box per operator in the colour of its kind, drawn as SVG.

It needs no other program and no script, and follows the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from streamtables.compiler.algebra import InnerJoin, Keyed, Node, Probe, Scan, kind_of
from streamtables.compiler.explaining.complexity import cost_of_change
from streamtables.compiler.explaining.layout import Place, placed
from streamtables.compiler.explaining.strategies import join_strategy
from streamtables.compiler.plan_text import describe
from streamtables.compiler.rewrites.rebuild import in_order

if TYPE_CHECKING:
    from streamtables.compiler.plan import Plan

_WIDTH, _HEIGHT = 304, 66
_GAP_ACROSS, _GAP_DOWN, _MARGIN = 22, 34, 20
_NARROWEST = 470
"""How wide a picture is at least, for its legend."""
_CHARACTERS = 42
"""How much text fits into a line of a box."""

_KINDS = ("linear", "multilinear", "keyed", "whole")
_STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b1f24; }
.name { font-weight: 600; }
.small { font-size: 11px; fill: #57606a; }
.kind { text-anchor: end; }
.page { fill: #ffffff; }
.box { fill: #f6f8fa; stroke: #8c959f; }
.edge { fill: none; stroke: #8c959f; }
.linear { fill: #2da44e; }
.multilinear { fill: #0969da; }
.keyed { fill: #bf8700; }
.whole { fill: #cf222e; }
.result { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9ea7b3; }
  .page { fill: #0d1117; }
  .box { fill: #161b22; stroke: #6e7681; }
  .edge { stroke: #6e7681; }
  .result { fill: #9ea7b3; }
}
"""


@dataclass(frozen=True)
class RowCounts:
    """The rows of the last refresh, as far as they are known."""

    changed: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The changed rows that were read of each table."""
    inserted: int | None = None
    deleted: int | None = None

    @property
    def written(self) -> str:
        """What the refresh wrote, in words."""
        if self.inserted is None:
            return ""
        return f"last refresh: +{self.inserted:,} −{self.deleted or 0:,} rows"


@dataclass(frozen=True)
class Box:
    """One box: what stands in it, and the boxes below it."""

    name: str
    kind: str
    detail: str
    note: str
    inputs: tuple[int, ...]


def picture(plan: Plan, name: str, rows: RowCounts | None = None) -> str:
    """Return the picture of a plan as SVG text."""
    boxes = _boxes(plan, name, rows or RowCounts())
    places = placed([box.inputs for box in boxes])
    left = min(place.column for place in places)
    spots = [_spot(Place(place.column - left, place.level)) for place in places]
    width = max(max(x for x, _ in spots) + _WIDTH + _MARGIN, _NARROWEST)
    height = max(y for _, y in spots) + _HEIGHT + _MARGIN + 24
    parts = [
        *(
            _edge(spots[index], spots[item])
            for index, box in enumerate(boxes)
            for item in box.inputs
        ),
        *(_drawn(box, spot) for box, spot in zip(boxes, spots, strict=True)),
        _legend(height - 14),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">'
    )
    title = f"<title>how {escape(name)} is maintained</title>"
    page = f'<rect class="page" width="{width:g}" height="{height:g}"/>'
    return "\n".join([head, title, f"<style>{_STYLE}</style>", page, *parts, "</svg>", ""])


def _boxes(plan: Plan, name: str, rows: RowCounts) -> list[Box]:
    """Return the result and all operators, from the top down."""
    if plan.root is None:
        tables = [Box(table, "whole", "read whole", "", ()) for table in plan.tables]
        below = tuple(range(1, len(tables) + 1))
        return [Box(name, "result", "kept by full refreshes", rows.written, below), *tables]
    nodes = list(reversed(in_order(plan.definition)))
    numbers = {id(node): number for number, node in enumerate(nodes, start=1)}
    form = plan.maintenance.form.replace("-", " ") if plan.incremental else "full refreshes"
    result = Box(name, "result", f"kept by {form}", rows.written, (1,))
    boxes = [result]
    for node in nodes:
        below = tuple(dict.fromkeys(numbers[id(item)] for item in node.inputs))
        note = _note(plan, node, rows)
        boxes.append(Box(type(node).__name__, kind_of(node), describe(node), note, below))
    return boxes


def _note(plan: Plan, node: Node, rows: RowCounts) -> str:
    """Return the last line of a box: changed rows and what they cost, or a strategy."""
    if not plan.incremental:
        return ""
    if isinstance(node, Scan):
        count = rows.changed.get(node.table)
        cost = cost_of_change(plan.maintenance, node.table).cost
        return cost if count is None else f"{count:,} changed · {cost}"
    if isinstance(node, InnerJoin | Probe):
        join = join_strategy(node)
        return f"{join.way.replace('-', ' ')}, {join.terms} terms"
    chain, state = plan.maintenance.chain, plan.maintenance.state
    if isinstance(node, Keyed) and chain is not None and node is chain.keyed and state is not None:
        return "stored state"
    return ""


def _spot(place: Place) -> tuple[float, float]:
    across = _MARGIN + place.column * (_WIDTH + _GAP_ACROSS)
    return across, _MARGIN + place.level * (_HEIGHT + _GAP_DOWN)


def _drawn(box: Box, spot: tuple[float, float]) -> str:
    x, y = spot
    lines = [
        f'<text class="name" x="{x + 14:g}" y="{y + 19:g}">{escape(_cut(box.name, 26))}</text>',
        f'<text class="small kind" x="{x + _WIDTH - 10:g}" y="{y + 19:g}">{box.kind}</text>',
        f'<text class="small" x="{x + 14:g}" y="{y + 38:g}">{escape(_cut(box.detail))}</text>',
        f'<text class="small" x="{x + 14:g}" y="{y + 55:g}">{escape(_cut(box.note))}</text>',
    ]
    frame = f'x="{x:g}" y="{y:g}" height="{_HEIGHT}" rx="5"'
    return "\n".join(
        [
            "<g>",
            f"<title>{escape(f'{box.name} {box.detail}'.strip())} [{box.kind}]</title>",
            f'<rect class="box" {frame} width="{_WIDTH}"/>',
            f'<rect class="{box.kind}" {frame} width="6"/>',
            *lines,
            "</g>",
        ]
    )


def _cut(text: str, most: int = _CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _edge(upper: tuple[float, float], lower: tuple[float, float]) -> str:
    x1, y1 = lower[0] + _WIDTH / 2, lower[1]
    x2, y2 = upper[0] + _WIDTH / 2, upper[1] + _HEIGHT
    middle = (y1 + y2) / 2
    way = f"M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path class="edge" d="{way}"/>'


def _legend(y: float) -> str:
    spots = [(_MARGIN + number * 110, kind) for number, kind in enumerate(_KINDS)]
    return "\n".join(
        f'<rect class="{kind}" x="{x}" y="{y - 9:g}" width="10" height="10"/>'
        f'<text class="small" x="{x + 16}" y="{y:g}">{kind}</text>'
        for x, kind in spots
    )
