"""`streamtables init`: make an empty warehouse."""

from __future__ import annotations

import typer

from streamtables.cli.invocation import Warehouse, chosen_warehouse, opened
from streamtables.cli.screen import show_line

NEXT_STEPS = """\
next:
  streamtables source add orders --path FOLDER_OF_A_DELTA_TABLE
  streamtables create totals 'SELECT customer, sum(amount) AS total FROM orders GROUP BY customer'
  streamtables refresh
  streamtables read totals"""


def init(context: typer.Context, warehouse: Warehouse = None) -> None:
    """Make a warehouse: a folder for rows, a catalog inside it."""
    with opened(context, warehouse) as db:
        count = len(db.status())
    show_line(f'warehouse "{chosen_warehouse(context, warehouse)}" is ready, {count} stream tables')
    if not count:
        show_line(NEXT_STEPS)
