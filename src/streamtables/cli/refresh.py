"""`streamtables refresh`: bring stream tables up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from streamtables.cli.contract import Database, Refresh
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import Json, pick, to_json
from streamtables.cli.screen import show_json, show_line, show_table, stepping, working
from streamtables.errors import ConfigError, StreamTablesError


def refresh(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Stream tables to refresh; all when none is named.", metavar="NAME"),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Recompute all rows of the named tables.")
    ] = False,
    upstream: Annotated[
        bool,
        typer.Option(
            "--upstream/--no-upstream", help="Bring the stream tables it reads along first."
        ),
    ] = True,
    steps: Annotated[bool, typer.Option("--steps", help="Show the seconds of each step.")] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Bring stream tables up to date, in dependency order."""
    if not names and (full or not upstream):
        raise ConfigError(
            "--full and --no-upstream need the name of a stream table",
            hint="Name the tables to recompute: streamtables refresh NAME --full.",
        )
    with opened(context, warehouse) as db:
        if names:
            done, error = _refresh_named(db, names, full=full, upstream=upstream)
        else:
            with working("refreshing all stream tables", db.spark_progress):
                done, error = list(db.refresh_all()), None
    if done or as_json or error is None:
        _show(done, steps=steps, as_json=as_json)
    if error:
        raise error
    if any(result.outcome in ("failed", "cancelled") for result in done):
        raise typer.Exit(BAD_ANSWER)


def _refresh_named(
    db: Database, names: Sequence[str], *, full: bool, upstream: bool
) -> tuple[list[Refresh], StreamTablesError | None]:
    """Refresh one after the other; the first error stops, what was done before it is kept."""
    done: list[Refresh] = []
    try:
        for name in stepping(names, "refreshing", db.spark_progress):
            done.append(db.refresh(name, full=full, upstream=upstream))
    except StreamTablesError as error:
        return done, error
    return done, None


def _show(done: Sequence[Refresh], *, steps: bool, as_json: bool) -> None:
    if as_json:
        show_json([refresh_data(result) for result in done])
        return
    show_refreshes(done)
    if steps:
        rows = [[result.table, step, seconds] for result in done for step, seconds in result.steps]
        show_table(["table", "step", "seconds"], rows)


def show_refreshes(done: Sequence[Refresh], *, details: bool = True) -> None:
    """Show what refreshes did, one line each, then what they want people to know."""
    show_table(
        ["table", "outcome", "mode", "inserted", "deleted", "seconds", "reason"],
        [
            [
                result.table,
                result.outcome,
                result.mode,
                result.rows_inserted,
                result.rows_deleted,
                float(result.seconds),
                result.reason.text,
            ]
            for result in done
        ],
        empty="no stream tables to refresh",
    )
    for result in done:
        if isinstance(result.error, StreamTablesError):
            show_line(f"{result.table}: error[{result.error.code}]: {result.error.message}")
            if details and result.error.detail:
                show_line(f"  {result.error.detail}")
        for note in result.notes:
            show_line(f"{result.table}: {note}")


def refresh_data(result: Refresh) -> Json:
    """Return one refresh as JSON-ready data."""
    return {
        **pick(result, "table", "outcome", "mode"),
        "reason": pick(result.reason, "code", "text"),
        **pick(result, "rows_inserted", "rows_deleted", "frontier", "seconds"),
        "steps": [{"name": name, "seconds": seconds} for name, seconds in result.steps],
        **pick(result, "notes"),
        "error": to_json(result.error),
    }
