"""Where the boxes of a picture stand: the result on top, what it is made from below it.

A box stands above the middle of its inputs, one level above the lowest of those that read it.  A
tree needs no more; where boxes share inputs, those of one level are moved apart from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A column, in widths of a box and counted from the left, and a level, counted from the top."""

    column: float
    level: int


def placed(inputs: Sequence[Sequence[int]]) -> list[Place]:
    """Return the place of each box; box 0 is the root, `inputs` are the boxes below each."""
    levels = _levels(inputs)
    columns: dict[int, float] = {}
    _set_columns(0, inputs, columns, [0])
    for level in range(max(levels) + 1):
        _move_apart([box for box in columns if levels[box] == level], columns)
    return [Place(columns[box], levels[box]) for box in range(len(inputs))]


def _levels(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Return for each box the length of the longest way down to it."""
    levels = [0] * len(inputs)
    # Boxes are numbered from the top down, so whoever reads a box was settled before it.
    for box, below in enumerate(inputs):
        for item in below:
            levels[item] = max(levels[item], levels[box] + 1)
    return levels


def _set_columns(
    box: int, inputs: Sequence[Sequence[int]], columns: dict[int, float], used: list[int]
) -> None:
    if box in columns:
        return
    for item in inputs[box]:
        _set_columns(item, inputs, columns, used)
    if inputs[box]:
        columns[box] = sum(columns[item] for item in inputs[box]) / len(inputs[box])
    else:
        columns[box] = float(used[0])
        used[0] += 1


def _move_apart(boxes: list[int], columns: dict[int, float]) -> None:
    free = float("-inf")
    for box in sorted(boxes, key=lambda item: columns[item]):
        columns[box] = max(columns[box], free)
        free = columns[box] + 1
