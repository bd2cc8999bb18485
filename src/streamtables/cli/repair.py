"""`streamtables repair`: rebuild a stream table whose rows can no longer be trusted."""

from __future__ import annotations

import typer

from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line, working


def repair(context: typer.Context, name: TableArgument, warehouse: Warehouse = None) -> None:
    """Rebuild a stream table from its sources."""
    with opened(context, warehouse) as db, working(f"repairing {name}"):
        db.repair(name)
    show_line(f'stream table "{name}" is repaired; check it: streamtables verify {name}')
