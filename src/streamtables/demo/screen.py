"""What the demonstration shows: tables for a person, aligned text for a pipe, progress."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Say = Callable[..., None]
WIDE = 128
"""Columns of a terminal from which on sentences fit into a table."""


class Column(NamedTuple):
    """A column of a shown table."""

    name: str
    number: bool = False


class Screen:
    """Says sentences and shows tables through `say`, which understands rich's markup."""

    def __init__(self, say: Say) -> None:
        self._say = say

    @property
    def is_wide(self) -> bool:
        """Whether there is room for sentences in a table; a pipe has all it wants."""
        return not sys.stdout.isatty() or shutil.get_terminal_size().columns >= WIDE

    def title(self, text: str) -> None:
        """Show a heading with room above it."""
        self._say()
        self._say(f"[bold]{text}[/bold]")

    def line(self, text: str = "") -> None:
        """Show one line as it is."""
        self._say(text, markup=False)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Show rows under their column names."""
        if sys.stdout.isatty():
            self._say(_rich_table(columns, rows, gap=1 if self.is_wide else 0))
        else:
            for text in _plain_table(columns, rows):
                self.line(text)

    def steps(self, items: Sequence[Item], words: Callable[[Item], str]) -> Iterator[Item]:
        """Yield each item under a progress bar; in a pipe without one."""
        if not sys.stderr.isatty():
            yield from items
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(items))
            for item in items:
                progress.update(task, description=words(item))
                yield item
                progress.advance(task)

    @contextmanager
    def working(self, words: str) -> Iterator[None]:
        """Show that one long thing is going on."""
        for _ in self.steps([words], str):
            yield


def _rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, gap: int) -> object:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    colours = {"differential": "green", "equal": "green", "full": "yellow", "different": "bold red"}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap))
    for column in columns:
        justify = "right" if column.number else "left"
        table.add_column(column.name, justify=justify, no_wrap=column.number)  # type: ignore[arg-type]  # one of rich's words
    for row in rows:
        table.add_row(*(Text(cell, style=colours.get(cell, "")) for cell in row))
    return table


def _plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    lines = [[column.name for column in columns], *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        cells = [
            cell.rjust(width) if column.number else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        yield ("  " + "  ".join(cells)).rstrip()
