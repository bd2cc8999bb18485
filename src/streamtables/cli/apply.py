"""`streamtables apply`: make the stream tables equal to a folder of SQL files."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.contract import ApplyPlan
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import Json
from streamtables.cli.screen import show_json, show_line, show_table, working
from streamtables.errors import ConfigError


def apply(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder of .sql files, one per stream table.")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop the stream tables that have no file.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show what a folder of SQL files would change, ask, and apply it."""
    if not folder.is_dir():
        raise ConfigError(
            f'"{folder}" is not a folder', hint="Name a folder that holds .sql files."
        )
    with opened(context, warehouse) as db:
        plan = db.plan_apply(folder, prune=prune)
        changes = [item for item in plan.items if item[0] != "unchanged"]
        _show_plan(plan, as_json=as_json)
        if dry_run or not changes:
            return
        if not yes and not _agreed(len(changes)):
            show_line("nothing was changed")
            raise typer.Exit(BAD_ANSWER)
        with working(f"applying {_changes(len(changes))}"):
            db.apply(plan)
    if not as_json:
        show_line(f"applied: {_summary(plan)}")


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            "apply needs an answer, and nobody is at the terminal",
            hint="Pass --yes to apply the plan, or --dry-run to only see it.",
        )
    return typer.confirm(f"Apply {_changes(count)}?")


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def _show_plan(plan: ApplyPlan, *, as_json: bool) -> None:
    if as_json:
        items: list[Json] = [
            {"action": action, "name": name, "details": details}
            for action, name, details in plan.items
        ]
        show_json(items)
        return
    show_table(
        ["action", "stream table", "details"],
        [list(item) for item in plan.items],
        empty="the folder holds no .sql files",
    )


def _summary(plan: ApplyPlan) -> str:
    counts = Counter(action for action, _, _ in plan.items)
    return ", ".join(f"{count} {action}" for action, count in counts.items())
