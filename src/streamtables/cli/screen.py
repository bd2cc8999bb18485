"""Showing things: tables and colour to a terminal, plain text to a pipe, JSON on request.

Answers go to standard output. Progress goes to standard error, and only to a terminal; the first
copy of a PostgreSQL table, which may take long, tells its begin and its end to a pipe too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Literal, Protocol

from streamtables.cli.plain import to_json
from streamtables.errors import StreamTablesError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

Cell = object
_TOLD_EVERY_SECONDS = 0.5
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
    "failing": "bold red",
    "fault": "bold red",
    "suspended": "bold red",
    "no-change": "dim",
    "unchanged": "dim",
}


class TasksDone(Protocol):
    """How far Spark is."""

    @property
    def done(self) -> int:
        """How many tasks are done."""

    @property
    def total(self) -> int:
        """How many there are."""


SparkProgress = Callable[[], "TasksDone | None"]


def _unknown() -> TasksDone | None:
    """Know nothing of Spark."""
    return None


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


def rich_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    one_line: Sequence[bool] | None = None,
) -> Table:
    """Return rows as a table for a terminal, words in the colour of their meaning.

    With `one_line`, which says it for each row, the last column is cut where others are read whole.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    numeric = _numeric_columns(rows) or [False] * len(columns)
    for place, (column, right) in enumerate(zip(columns, numeric, strict=True)):
        whole = one_line is not None and place < len(columns) - 1
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=whole)
    for row, cut in zip(rows, one_line or [False] * len(rows), strict=True):
        cells = [Text(text, style=COLOURS.get(text, "")) for text in map(cell_text, row)]
        if cut:
            cells[-1].no_wrap, cells[-1].overflow = True, "ellipsis"
        table.add_row(*cells)
    return table


def console() -> Console:
    """Return a console on standard output that never rewrites or highlights what it is given."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not at_terminal())


@contextmanager
def working(message: str, progress: SparkProgress = _unknown) -> Iterator[None]:
    """Show that something long is going on: a spinner, how far Spark is, the seconds gone by."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as shown,
        telling(progress, shown, shown.add_task(message, total=None), lambda: message),
    ):
        yield


def stepping(names: Sequence[str], verb: str, progress: SparkProgress = _unknown) -> Iterator[str]:
    """Yield each name, with a progress bar over all of them."""
    if not sys.stderr.isatty() or not names:
        yield from names
        return
    from rich.console import Console
    from rich.progress import Progress

    now = verb
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(verb, total=len(names))
        with telling(progress, shown, task, lambda: now):
            for name in names:
                now = f"{verb} {name}"
                shown.update(task, description=now)
                yield name
                shown.advance(task)


@contextmanager
def telling(
    progress: SparkProgress, shown: Progress, task: TaskID, message: Callable[[], str]
) -> Iterator[None]:
    """Put how far Spark is behind a message, twice a second."""
    ended = Event()

    def tell() -> None:
        # Whoever waits for Spark meets its errors; here it is only looked at.
        with suppress(StreamTablesError):
            while not ended.wait(_TOLD_EVERY_SECONDS):
                shown.update(task, description=message() + tasks_text(progress()))

    thread = Thread(target=tell, name="streamtables-progress", daemon=True)
    if progress is not _unknown:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if progress is not _unknown:
            thread.join()


def tasks_text(found: TasksDone | None) -> str:
    """Return how far Spark is, in words that follow others; nothing while it rests."""
    return "" if found is None else f", Spark: {found.done:,} of {found.total:,} tasks"
