"""The first copy of a PostgreSQL table, as it goes on: a bar at a terminal, two lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamtables.cli.contract import CopyProgress


@contextmanager
def copying(message: str) -> Iterator[Callable[[CopyProgress], None]]:
    """Give a function that shows on standard error how far a copy is."""
    if not sys.stderr.isatty():
        yield _lines
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)

        def show(progress: CopyProgress) -> None:
            share = progress.share
            bar.update(
                task,
                description=copy_text(progress),
                completed=(share or 0) * 100,
                total=None if share is None else 100,
            )
            if progress.done:
                bar.console.print(copy_text(progress), highlight=False, markup=False)

        yield show


def copy_text(progress: CopyProgress) -> str:
    """Return how far a copy is, as one line."""
    table, rows = progress.table, progress.rows
    if progress.done:
        many = "" if rows is None else f", {rows:,} rows"
        return f"copied {table}{many} in {progress.seconds:.1f} s"
    about = "" if progress.expected is None else f"about {progress.expected:,} rows"
    if not rows:
        return f"copying {table}, {about}" if about else f"copying {table}"
    return f"copying {table}, {rows:,} of {about}" if about else f"copying {table}, {rows:,} rows"


def _lines(progress: CopyProgress) -> None:
    """Print the begin and the end."""
    if progress.done or not progress.seconds:
        print(copy_text(progress), file=sys.stderr, flush=True)
