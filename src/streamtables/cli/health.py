"""`streamtables health`: what is wrong with a warehouse, and what to do."""

from __future__ import annotations

import typer

from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table

_FIELDS = ("severity", "code", "subject", "text", "action")


def health(
    context: typer.Context,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Look for what is wrong or soon will be; exit 1 when something is an error."""
    with opened(context, warehouse) as db:
        found = list(db.health_check())
    if as_json:
        show_json([pick(item, *_FIELDS) for item in found])
    elif found:
        rows = [[item.severity, item.subject, item.text, item.action] for item in found]
        show_table(["severity", "what", "how it is", "what to do"], rows)
    else:
        show_line("nothing is wrong")
    if any(item.severity == "error" for item in found):
        raise typer.Exit(BAD_ANSWER)
