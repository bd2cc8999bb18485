"""`streamtables repair`: make right what can no longer be trusted."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line, working


def repair(
    context: typer.Context,
    name: TableArgument,
    way: Annotated[
        Literal["auto", "rows", "table"],
        typer.Option(help="Write only the rows that are wrong, or build all of the table anew."),
    ] = "auto",
    warehouse: Warehouse = None,
) -> None:
    """Make a stream table right again, and what stands on it."""
    with opened(context, warehouse) as db, working(f"repairing {name}", db.spark_progress):
        done = db.repair(name, way=way)
    show_line(f'stream table "{name}" is repaired, {done.mode}: {done.reason.text}')
    show_line(f"check it: streamtables verify {name}")
