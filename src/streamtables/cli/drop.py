"""`streamtables drop`: remove a stream table and its rows."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line


def drop(
    context: typer.Context,
    name: TableArgument,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Drop the stream tables that read it, too.")
    ] = False,
    warehouse: Warehouse = None,
) -> None:
    """Drop a stream table and its rows."""
    with opened(context, warehouse) as db:
        db.drop(name, cascade=cascade)
    show_line(f'stream table "{name}" dropped')
