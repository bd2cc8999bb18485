"""Bars as SVG, without any other program; they follow the reader's choice of light or dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

Rows = Sequence[tuple[str, Mapping[str, float]]]
"""Labels, and under each the value of every series that it has."""

_LABELS, _BARS, _VALUES, _MARGIN = 230, 400, 90, 16
_THICK, _GAP = 14, 10
_LETTER = 7
"""How wide a letter of the legend is."""
_COLOURS = ("#0969da", "#2da44e", "#bf8700", "#8250df", "#cf222e", "#57606a", "#1b7c83")
_STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b1f24; }
.small { font-size: 11px; fill: #57606a; }
.label { text-anchor: end; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9ea7b3; }
  .page { fill: #0d1117; }
}
"""


@dataclass(frozen=True)
class Chart:
    """A title, bars, and what their numbers are."""

    title: str
    rows: Rows
    unit: str = "s"

    def grouped(self) -> str:
        """Draw the series of each label one below the other."""
        most = max(value for _, values in self.rows for value in values.values())
        parts, y = [], float(_MARGIN + 24)
        for label, values in self.rows:
            middle = y + len(values) * _THICK / 2 + 4
            parts.append(_text(label, _MARGIN + _LABELS - 8, middle, "label"))
            for series, value in values.items():
                parts += self._bar(series, value, most, y)
                y += _THICK
            y += _GAP
        return self._drawn(parts, y)

    def stacked(self) -> str:
        """Draw the series of each label one after the other; their sum stands behind them."""
        most = max(sum(values.values()) for _, values in self.rows)
        parts, y = [], float(_MARGIN + 24)
        for label, values in self.rows:
            parts.append(_text(label, _MARGIN + _LABELS - 8, y + 11, "label"))
            x = float(_MARGIN + _LABELS)
            for series, value in values.items():
                width = _width(value, most)
                parts.append(self._rectangle(series, value, x, y, width))
                x += width
            parts.append(_text(self._value(sum(values.values())), x + 6, y + 11, "small"))
            y += _THICK + _GAP
        return self._drawn(parts, y)

    @property
    def series(self) -> list[str]:
        """The names of all series, in the order in which they first come."""
        return list(dict.fromkeys(name for _, values in self.rows for name in values))

    def _bar(self, series: str, value: float, most: float, y: float) -> Iterator[str]:
        x, width = _MARGIN + _LABELS, _width(value, most)
        yield self._rectangle(series, value, x, y, width)
        yield _text(self._value(value), x + width + 6, y + 11, "small")

    def _rectangle(self, series: str, value: float, x: float, y: float, width: float) -> str:
        colour = _COLOURS[self.series.index(series) % len(_COLOURS)]
        told = escape(f"{series}: {self._value(value)}")
        return (
            f'<rect fill="{colour}" x="{x:g}" y="{y:g}" width="{width:g}" '
            f'height="{_THICK - 2}"><title>{told}</title></rect>'
        )

    def _value(self, value: float) -> str:
        return f"{value:.3g} {self.unit}"

    def _drawn(self, parts: Sequence[str], y: float) -> str:
        legend = list(self._legend(y + 14))
        width = _LABELS + _BARS + _VALUES + 2 * _MARGIN
        height = y + _MARGIN + (max(line for line, _ in legend) if legend else 0)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img">'
        )
        page = f'<rect class="page" width="{width:g}" height="{height:g}"/>'
        title = f"<title>{escape(self.title)}</title>"
        shown = _text(self.title, _MARGIN, _MARGIN + 8, "")
        named = [text for _, text in legend]
        lines = [head, title, f"<style>{_STYLE}</style>", page, shown, *parts, *named, "</svg>"]
        return "\n".join([*lines, ""])

    def _legend(self, top: float) -> Iterator[tuple[int, str]]:
        """Name the colours, each with how far down it stands; labels name those of single bars."""
        if all(list(values) == [label] for label, values in self.rows):
            return
        column = 36 + _LETTER * max(len(series) for series in self.series)
        across = max(1, (_LABELS + _BARS + _VALUES) // column)
        for number, series in enumerate(self.series):
            down = number // across * 20
            x, y = _MARGIN + number % across * column, top + down
            colour = _COLOURS[number % len(_COLOURS)]
            square = f'<rect fill="{colour}" x="{x}" y="{y - 9:g}" width="10" height="10"/>'
            yield down + 20, square + _text(series, x + 16, y, "small")


def _width(value: float, most: float) -> float:
    return round(_BARS * value / most, 1) if most > 0 else 0.0


def _text(text: str, x: float, y: float, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:g}" y="{y:g}">{escape(text)}</text>'
