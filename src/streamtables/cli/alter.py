"""`streamtables alter`: change a stream table's query, schedule, mode or options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from streamtables.cli.contract import FullPolicy, Mode, Tier
from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line, working
from streamtables.cli.text_input import Options, SqlFile, optional_sql_from, options_from
from streamtables.errors import ConfigError


def alter(
    context: typer.Context,
    name: TableArgument,
    query: Annotated[
        str | None,
        typer.Option("--query", help="A new query, or - for standard input.", show_default=False),
    ] = None,
    file: SqlFile = None,
    schedule: Annotated[
        str | None, typer.Option("--schedule", help="When to refresh.", show_default=False)
    ] = None,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="How to refresh.", show_default=False)
    ] = None,
    full: Annotated[
        FullPolicy | None,
        typer.Option(
            "--full", help="Whether a full refresh may replace all rows.", show_default=False
        ),
    ] = None,
    tier: Annotated[
        Tier | None,
        typer.Option("--tier", help="How far intervals are stretched.", show_default=False),
    ] = None,
    option: Options = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what becomes of rows and readers, and stop."),
    ] = False,
    warehouse: Warehouse = None,
) -> None:
    """Change a stream table. What is not named stays as it is."""
    sql = optional_sql_from(query, file)
    options = options_from(option) or None
    if (sql, schedule, mode, full, tier, options) == (None,) * 6:
        raise ConfigError(
            f'nothing to change in stream table "{name}"',
            hint="Name what changes: --query, --file, --schedule, --mode, --full, --tier or "
            "--option.",
        )
    with opened(context, warehouse) as db:
        changes: dict[str, Any] = {
            "query": sql,
            "schedule": schedule,
            "mode": mode,
            "full": full,
            "tier": tier,
            "options": options,
        }
        plan = db.plan_alter(name, **changes)
        if not dry_run:
            with working(f"altering {name}"):
                db.alter(name, **changes)
            show_line(f'stream table "{name}" altered')
    if dry_run or sql is not None:
        for table, becomes in plan.lines:
            show_line(f'"{table}": {becomes}')
