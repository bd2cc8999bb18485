"""`streamtables pause` and `resume`: stop refreshing a stream table for a while."""

from __future__ import annotations

import typer

from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line


def pause(context: typer.Context, name: TableArgument, warehouse: Warehouse = None) -> None:
    """Stop refreshing a stream table. Its rows stay readable."""
    with opened(context, warehouse) as db:
        db.pause(name)
    show_line(f'stream table "{name}" is paused; go on: streamtables resume {name}')


def resume(context: typer.Context, name: TableArgument, warehouse: Warehouse = None) -> None:
    """Go on refreshing a paused stream table."""
    with opened(context, warehouse) as db:
        db.resume(name)
    show_line(f'stream table "{name}" goes on')
