"""`streamtables create`: define a stream table by one query."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.contract import FullPolicy, Mode, Tier
from streamtables.cli.invocation import TableArgument, Warehouse, opened
from streamtables.cli.screen import show_line, working
from streamtables.cli.text_input import Options, SqlFile, options_from, sql_from
from streamtables.errors import ConfigError


def create(
    context: typer.Context,
    name: TableArgument,
    sql: Annotated[
        str | None,
        typer.Argument(
            help="The query, or - for standard input.", metavar="SQL", show_default=False
        ),
    ] = None,
    file: SqlFile = None,
    schedule: Annotated[
        str, typer.Option("--schedule", help="When to refresh: 'manual', 'on change', '1 minute'.")
    ] = "manual",
    mode: Annotated[Mode, typer.Option("--mode", help="How to refresh.")] = "auto",
    full: Annotated[
        FullPolicy, typer.Option("--full", help="Whether a full refresh may replace all rows.")
    ] = "allow",
    tier: Annotated[Tier, typer.Option("--tier", help="How far intervals are stretched.")] = "hot",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a stream table of this name.")
    ] = False,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Do nothing when the name is taken.")
    ] = False,
    option: Options = None,
    warehouse: Warehouse = None,
) -> None:
    """Create a stream table from a query. The first refresh fills it."""
    if replace and if_not_exists:
        raise ConfigError(
            "--replace and --if-not-exists contradict each other", hint="Keep one of the two."
        )
    query, options = sql_from(sql, file), options_from(option)
    with opened(context, warehouse) as db, working(f"creating {name}"):
        db.create(
            name,
            query,
            schedule=schedule,
            mode=mode,
            full=full,
            tier=tier,
            replace=replace,
            if_not_exists=if_not_exists,
            options=options,
        )
    show_line(f'stream table "{name}" is defined; fill it: streamtables refresh {name}')
