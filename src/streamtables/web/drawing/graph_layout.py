"""Where the boxes of the graph stand: a column for each level, few crossings, no overlap.

Boxes of neighbouring columns are ordered by the average place of what they are joined to, back and
forth a few times: the usual heuristic, which costs little at a thousand boxes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SWEEPS = 4
BOX_WIDTH, BOX_HEIGHT = 196, 34
GAP_ACROSS, GAP_DOWN = 84, 10
MARGIN = 12


@dataclass(frozen=True)
class Spot:
    """The upper left corner of a box."""

    x: int
    y: int


@dataclass(frozen=True)
class Layout:
    """All places, and the size of the picture."""

    spots: Mapping[str, Spot]
    width: int
    height: int


def layout(levels: Mapping[str, int], edges: Iterable[tuple[str, str]]) -> Layout:
    """Place boxes by their level; edges lead from what is read to who reads it."""
    columns: dict[int, list[str]] = defaultdict(list)
    for key, level in levels.items():
        columns[level].append(key)
    ordered = [columns[level] for level in sorted(columns)]
    joined = list(edges)
    inputs, readers = _neighbours((b, a) for a, b in joined), _neighbours(joined)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for index in range(len(ordered)) if forward else reversed(range(len(ordered))):
            _order(ordered[index], inputs if forward else readers, _places(ordered))
    return _placed(ordered)


def _neighbours(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        found[one].append(other)
    return found


def _places(columns: Sequence[Sequence[str]]) -> dict[str, float]:
    return {
        key: (place + 0.5) / len(column) for column in columns for place, key in enumerate(column)
    }


def _order(
    column: list[str], neighbours: Mapping[str, Sequence[str]], places: Mapping[str, float]
) -> None:
    def wanted(key: str) -> float:
        found = [places[other] for other in neighbours.get(key, ())]
        return sum(found) / len(found) if found else places[key]

    column.sort(key=wanted)


def _placed(columns: Sequence[Sequence[str]]) -> Layout:
    tallest = max((len(column) for column in columns), default=0)
    height = 2 * MARGIN + max(tallest * (BOX_HEIGHT + GAP_DOWN) - GAP_DOWN, 0)
    spots = {}
    for index, column in enumerate(columns):
        room = (height - 2 * MARGIN) / max(len(column), 1)
        for place, key in enumerate(column):
            x = MARGIN + index * (BOX_WIDTH + GAP_ACROSS)
            spots[key] = Spot(x, round(MARGIN + room * (place + 0.5) - BOX_HEIGHT / 2))
    width = 2 * MARGIN + max(len(columns) * (BOX_WIDTH + GAP_ACROSS) - GAP_ACROSS, 0)
    return Layout(spots, width, height)
