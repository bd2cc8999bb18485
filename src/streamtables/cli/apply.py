"""`streamtables apply`: make a warehouse equal to a project, or to a folder of SQL files."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated

import typer

from streamtables.cli.contract import ApplyPlan, Database
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plan import (
    Folder,
    Prune,
    changes,
    definitions_of,
    looked_at,
    show_plan,
    show_project_plan,
)
from streamtables.cli.screen import show_line, working
from streamtables.errors import ConfigError


def apply(
    context: typer.Context,
    folder: Folder = None,
    prune: Prune = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show what a project or a folder of SQL files would change, ask, and apply it.

    Files in Python are run to learn what they define.
    """
    definitions = definitions_of(context, folder)
    with (looked_at if dry_run else opened)(context, warehouse) as db:
        if definitions is None:
            assert folder is not None
            plan: ApplyPlan = db.plan_apply(folder, prune=prune)
            show_plan(plan, as_json=as_json)
        else:
            compared = db.plan_project(definitions, prune=prune)
            show_project_plan(compared, as_json=as_json)
            plan = compared
        count = len([item for item in changes(plan) if item[0] != "later"])
        if dry_run or not count:
            return
        if not yes and not _agreed(count):
            show_line("nothing was changed")
            raise typer.Exit(BAD_ANSWER)
        with working(f"applying {_changes(count)}"):
            _carry_out(db, plan, project=definitions is not None)
    if not as_json:
        show_line(f"applied: {_summary(plan)}")


def _carry_out(db: Database, plan: ApplyPlan, *, project: bool) -> None:
    if project:
        db.apply_project(plan)
    else:
        db.apply(plan)


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            "apply needs an answer, and nobody is at the terminal",
            hint="Pass --yes to apply the plan, or --dry-run to only see it.",
        )
    return typer.confirm(f"Apply {_changes(count)}?")


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def _summary(plan: ApplyPlan) -> str:
    counts = Counter(action for action, _, _ in plan.items)
    return ", ".join(f"{count} {action}" for action, count in counts.items())
