"""`streamtables maintain`: few files and short logs, and no row touched."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table


def maintain(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="One table; all without it.")] = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Tidy up the files of stream tables: checkpoints, small files, files past their retention."""
    with opened(context, warehouse) as db:
        done = db.maintain(name)
    failed = [item for item in done if item.error is not None]
    if as_json:
        show_json([pick(item, "table", "job", "text") for item in done])
    elif done:
        show_table(["table", "job", "what became of it"], [[d.table, d.job, d.text] for d in done])
    else:
        show_line("nothing to tidy up")
    if failed:
        assert failed[0].error is not None
        raise failed[0].error
