"""Showing things: tables and colour to a terminal, plain text to a pipe, JSON on request.

Answers go to standard output. Progress goes to standard error, and only to a terminal; the first
copy of a PostgreSQL table, which may take long, tells its begin and its end to a pipe too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamtables.cli.plain import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Cell = object
# What a word in a table means to the eye; every other word keeps the terminal's own colour.
COLOURS = {
    "active": "green",
    "applied": "green",
    "differential": "green",
    "equal": "green",
    "ok": "green",
    "create": "green",
    "alter": "yellow",
    "deferred": "yellow",
    "cancelled": "yellow",
    "full": "yellow",
    "paused": "yellow",
    "pending": "yellow",
    "different": "bold red",
    "drop": "bold red",
    "failed": "bold red",
    "fault": "bold red",
    "suspended": "bold red",
    "no-change": "dim",
    "unchanged": "dim",
}


def at_terminal() -> bool:
    """Return whether a person reads standard output."""
    return sys.stdout.isatty()


def show_line(text: str) -> None:
    """Print one line as it is."""
    print(text)


def show_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(to_json(value), indent=2, ensure_ascii=False, allow_nan=False))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, empty: str = "") -> None:
    """Print rows under their column names, numbers to the right; `empty` when there are none."""
    if not rows and empty:
        print(empty)
    elif at_terminal():
        _show_rich_table(columns, rows)
    else:
        _show_plain_table(columns, rows)


def cell_text(value: Cell) -> str:
    """Return how a value looks in a table."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case str():
            return " ".join(value.split())
        case _:
            return str(value)


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numeric_columns(rows: Sequence[Sequence[Cell]]) -> list[bool]:
    def numeric(cells: Sequence[Cell]) -> bool:
        known = [cell for cell in cells if cell is not None]
        return bool(known) and all(_is_number(cell) for cell in known)

    return [numeric(cells) for cells in zip(*rows, strict=True)]


def _show_plain_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    lines = [list(columns), *([cell_text(cell) for cell in row] for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    numeric = _numeric_columns(rows) or [False] * len(columns)
    for line in lines:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        print("  ".join(cells).rstrip())


def _show_rich_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    console().print(rich_table(columns, rows))


def rich_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """Return rows as a table for a terminal, words in the colour of their meaning."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    numeric = _numeric_columns(rows) or [False] * len(columns)
    for column, right in zip(columns, numeric, strict=True):
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows:
        texts = [cell_text(cell) for cell in row]
        table.add_row(*(Text(text, style=COLOURS.get(text, "")) for text in texts))
    return table


def console() -> Console:
    """Return a console on standard output that never rewrites or highlights what it is given."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not at_terminal())


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that something long is going on, with a spinner and the seconds gone by."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(message, total=None)
        yield


def stepping(names: Sequence[str], verb: str) -> Iterator[str]:
    """Yield each name, with a progress bar over all of them."""
    if not sys.stderr.isatty() or not names:
        yield from names
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=len(names))
        for name in names:
            progress.update(task, description=f"{verb} {name}")
            yield name
            progress.advance(task)
