"""`streamtables init`: make an empty warehouse, or a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.invocation import Warehouse, chosen_warehouse, opened
from streamtables.cli.screen import show_line
from streamtables.errors import ConfigError

NEXT_STEPS = """\
next:
  streamtables source add orders --path FOLDER_OF_A_DELTA_TABLE
  streamtables create totals 'SELECT customer, sum(amount) AS total FROM orders GROUP BY customer'
  streamtables refresh
  streamtables read totals"""

NEXT_IN_PROJECT = """\
next:
  cd {folder}
  streamtables plan
  streamtables apply
  streamtables refresh
data/orders holds made-up orders: put the place of your own table into sources/orders.toml"""


def init(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(help="Make a project in this folder instead.", show_default=False),
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Make a warehouse: a folder for rows, a catalog inside it. With FOLDER, make a project."""
    if folder is not None:
        _init_project(folder, warehouse)
        return
    with opened(context, warehouse) as db:
        count = len(db.status())
    show_line(f'warehouse "{chosen_warehouse(context, warehouse)}" is ready, {count} stream tables')
    if not count:
        show_line(NEXT_STEPS)


def _init_project(folder: Path, warehouse: str | None) -> None:
    if warehouse is not None:
        raise ConfigError(
            "a project names the warehouses of its environments itself",
            hint="Leave --warehouse out, and change streamtables.toml afterwards.",
        )
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f'"{folder}" is not a folder', hint="Name a folder, new or empty.")
    from streamtables.project.scaffold import make_project

    for path in make_project(folder):
        show_line(f"made {folder / path}")
    show_line(NEXT_IN_PROJECT.format(folder=folder))
