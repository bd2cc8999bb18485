"""`streamtables backup` and `restore`: a copy of the catalog, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson, Warehouse, invocation_of, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table

_FIELDS = ("made_at", "program", "catalog_revision", "with_tables")


def backup(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder that is new or empty.")],
    with_tables: Annotated[
        bool, typer.Option("--with-tables", help="Copy the files of the tables too.")
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Copy the catalog as it is now, with a list of where every table stands."""
    with opened(context, warehouse) as db:
        made = db.backup(folder, with_tables=with_tables)
    if as_json:
        show_json({**pick(made, *_FIELDS), "tables": [item.name for item in made.tables]})
    else:
        what = "catalog and tables" if with_tables else "catalog"
        show_line(f"{what} copied to {folder}; {len(made.tables)} tables and sources are listed")


def restore(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder that `backup` wrote.")],
    into: Annotated[Path, typer.Option("--into", help="The warehouse to put it into.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace a catalog and tables that are there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup into a warehouse; say how each table stands to it."""
    from streamtables.backing_up import restore as put_back

    found = put_back(folder, into, catalog=invocation_of(context).catalog, force=force)
    if as_json:
        show_json([pick(item, "table", "how", "text") for item in found])
    elif found:
        rows = [[item.table, item.how, item.text] for item in found]
        show_table(["table", "how it is", "what that means"], rows)
    else:
        show_line("restored; there are no tables in it")
