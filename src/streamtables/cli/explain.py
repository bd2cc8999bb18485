"""`streamtables explain` and `validate`: how a query is maintained, and what stands in the way."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.contract import Explanation
from streamtables.cli.invocation import AsJson, TableArgument, Warehouse, opened
from streamtables.cli.screen import show_json, show_line
from streamtables.cli.text_input import SqlFile, sql_from


def explain(
    context: typer.Context,
    name: TableArgument,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show how a stream table is maintained: plan, refusals, delta SQL."""
    with opened(context, warehouse) as db:
        show_explanation(db.explain(name), as_json=as_json)


def validate(
    context: typer.Context,
    sql: Annotated[
        str | None,
        typer.Argument(
            help="The query, or - for standard input.", metavar="SQL", show_default=False
        ),
    ] = None,
    file: SqlFile = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Explain a query before anything is created."""
    query = sql_from(sql, file)
    with opened(context, warehouse) as db:
        show_explanation(db.validate(query), as_json=as_json)


def show_explanation(explanation: Explanation, *, as_json: bool) -> None:
    """Show an explanation as text or as data."""
    if as_json:
        show_json(explanation.data)
    else:
        show_line(explanation.text)
