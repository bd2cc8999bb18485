"""`streamtables top`: the stream tables and the workers, drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from streamtables.cli.board import board, state_text, watched
from streamtables.cli.contract import TableStatus
from streamtables.cli.invocation import Warehouse, opened


def top(
    context: typer.Context,
    every: Annotated[
        float, typer.Option("--every", help="Seconds between two looks.", min=0.1)
    ] = 2.0,
    limit: Annotated[
        int, typer.Option("--limit", help="Show so many tables, the worst first.", min=1)
    ] = 30,
    warehouse: Warehouse = None,
) -> None:
    """Watch the stream tables, those in trouble and those furthest behind first."""
    with opened(context, warehouse) as db:
        watched(lambda: board(worst_first(db.status()), db.scheduler_diagnostics(), limit), every)


def worst_first(tables: Sequence[TableStatus]) -> list[TableStatus]:
    """Return tables that stand still or fail first, then by lag, then by name."""
    return sorted(
        tables, key=lambda t: (state_text(t) == "active", -(t.lag_seconds or 0.0), t.name)
    )
