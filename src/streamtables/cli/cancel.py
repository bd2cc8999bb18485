"""`streamtables cancel`: stop a refresh that runs."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import Warehouse, opened
from streamtables.cli.screen import show_line, working
from streamtables.errors import ConfigError


def cancel(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the stream table.", metavar="NAME", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every refresh that runs.")] = False,
    warehouse: Warehouse = None,
) -> None:
    """Stop a refresh that runs, in whichever process. Rows stay as they were."""
    if (name is not None) == everything:
        raise ConfigError(
            "name one stream table, or --all", hint="As in: streamtables cancel revenue."
        )
    what = "refresh" if name is None else f'refresh of "{name}"'
    with opened(context, warehouse) as db:
        with working("cancelling"):
            was_cancelled = db.cancel(name)
        if was_cancelled:
            show_line(f"the {what} is cancelled" if name else "all that ran is cancelled")
        else:
            show_line(f"no {what} is running; nothing was cancelled")
