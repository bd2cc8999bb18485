"""Charts over time: bars per minute and lines; their words stand beside them as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

WIDTH, HEIGHT = 600.0, 96.0
_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0
_ROUND_SECONDS = (
    20.0,
    30.0,
    *(part * _MINUTE for part in (1, 2, 3, 5, 10, 20, 30)),
    *(part * _HOUR for part in (1, 2, 3, 6, 12)),
    *(part * _DAY for part in (1, 2, 3, 7)),
)


@dataclass(frozen=True)
class Point:
    """A value at a moment."""

    at: datetime
    value: float


@dataclass(frozen=True)
class Chart:
    """A picture, and the words that belong to its axes."""

    svg: Markup
    top: float
    """The value at the upper edge."""
    empty: bool


def line_chart(
    points: Sequence[Point],
    start: datetime,
    end: datetime,
    label: str,
    marks: Sequence[datetime] = (),
) -> Chart:
    """Return seconds as steps that fill the area below; marks are moments worth a thin line."""
    shown = [point for point in points if start <= point.at <= end]
    top = _round_up_seconds(max((point.value for point in shown), default=0.0))
    span = max((end - start).total_seconds(), 1.0)

    def across(at: datetime) -> float:
        return WIDTH * (at - start).total_seconds() / span

    lines = [
        f'<line class="mark" x1="{across(at):.1f}" x2="{across(at):.1f}" y1="0" y2="{HEIGHT:g}"/>'
        for at in marks
        if start <= at <= end
    ]
    parts = [*_grid(), *lines]
    if shown:
        spots = [(across(p.at), HEIGHT - (HEIGHT - 4) * p.value / top) for p in shown]
        way = f"M{spots[0][0]:.1f} {spots[0][1]:.1f}"
        way += "".join(f"H{x:.1f}V{y:.1f}" for x, y in spots[1:]) + f"H{WIDTH:g}"
        area = f"{way}V{HEIGHT:g}H{spots[0][0]:.1f}Z"
        parts += [f'<path class="area" d="{area}"/>', f'<path class="curve" d="{way}"/>']
    return Chart(_svg(parts, label), top, not shown)


def stacked_bars(columns: Sequence[Sequence[tuple[str, int]]], label: str) -> Chart:
    """Return one bar per column, of parts that have a class and a height each."""
    top = _round_up(max((sum(n for _, n in parts) for parts in columns), default=0))
    step = WIDTH / max(len(columns), 1)
    drawn = list(_grid())
    for index, parts in enumerate(columns):
        y = HEIGHT
        for kind, count in parts:
            height = (HEIGHT - 4) * count / top
            y -= height
            if count:
                drawn.append(
                    f'<rect class="{kind}" x="{index * step + 1:.1f}" y="{y:.1f}" '
                    f'width="{step - 2:.1f}" height="{height:.1f}"/>'
                )
    empty = not any(count for parts in columns for _, count in parts)
    return Chart(_svg(drawn, label), top, empty)


def _grid() -> list[str]:
    return [
        f'<line class="grid" x1="0" x2="{WIDTH:g}" y1="{y:g}" y2="{y:g}"/>'
        for y in (4.0, HEIGHT / 2 + 2, HEIGHT - 0.5)
    ]


def _round_up(value: float) -> float:
    """Return a round number at or above a value, never 0.

    >>> _round_up(0), _round_up(7), _round_up(0.31), _round_up(42), _round_up(100)
    (1.0, 10.0, 0.5, 50.0, 100.0)
    """
    if value <= 0:
        return 1.0
    size = 1.0
    while size < value:
        size *= 10
    while size / 10 >= value:
        size /= 10
    return next(size * part for part in (0.2, 0.5, 1.0) if size * part >= value)


def _round_up_seconds(value: float) -> float:
    """Return a round duration at or above one, never 0.

    >>> (
    ...     _round_up_seconds(7),
    ...     _round_up_seconds(42),
    ...     _round_up_seconds(101),
    ...     _round_up_seconds(5_000),
    ... )
    (10.0, 60.0, 120.0, 7200.0)
    """
    if value <= 10 or value > 7 * _DAY:
        return _round_up(value / _DAY) * _DAY if value > 10 else _round_up(value)
    return next(top for top in _ROUND_SECONDS if top >= value)


def _svg(parts: Sequence[str], label: str) -> Markup:
    # Stretched to its box: lines keep their width by the style sheet, and no text is inside.
    return Markup(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(f"{WIDTH:g}", f"{HEIGHT:g}", label, Markup("".join(parts)))
