"""`streamtables events`: what people should know, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_table
from streamtables.cli.status import when_text


def events(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Only of this stream table.", metavar="NAME", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many to show.", min=1)] = 20,
    audit: Annotated[bool, typer.Option("--audit", help="Show who changed what instead.")] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show what was held back, failed, suspended or late, and why; or who changed what."""
    with opened(context, warehouse) as db:
        found = db.audit_log(name, limit) if audit else db.events(name, limit)
    if as_json:
        show_json([pick(event, "at", "kind", "subject", "text") for event in found])
        return
    rows = [[when_text(event.at), event.kind, event.subject, event.text] for event in found]
    show_table(["when", "what", "about", "why"], rows, empty="nothing has happened yet")
