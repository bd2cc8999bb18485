"""`streamtables plan`: what a project would change, and what was changed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from streamtables.cli.contract import ApplyPlan, Database, ProjectPlan
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import (
    AsJson,
    Warehouse,
    chosen_catalog,
    chosen_warehouse,
    invocation_of,
    opened,
)
from streamtables.cli.plain import Json
from streamtables.cli.screen import show_json, show_line, show_table
from streamtables.errors import ConfigError
from streamtables.project_file import project_in

if TYPE_CHECKING:
    from streamtables.project.definitions import ProjectDefinitions

Folder = Annotated[
    Path | None,
    typer.Argument(
        help="Folder of a project, or of .sql files; the project around this folder by default.",
        show_default=False,
    ),
]
Prune = Annotated[bool, typer.Option("--prune", help="Drop the stream tables that have no file.")]
QUIET = ("unchanged",)


def plan(
    context: typer.Context,
    folder: Folder = None,
    prune: Prune = False,
    detailed_exitcode: Annotated[
        bool,
        typer.Option("--detailed-exitcode", help="Exit 1 when there are changes or drift, for CI."),
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show what a project would change, and what was changed by hand. Changes nothing.

    Files in Python are run to learn what they define.
    """
    definitions = definitions_of(context, folder)
    with looked_at(context, warehouse) as db:
        if definitions is None:
            assert folder is not None
            found: ApplyPlan = db.plan_apply(folder, prune=prune)
            show_plan(found, as_json=as_json)
            differs = bool(changes(found))
        else:
            compared = db.plan_project(definitions, prune=prune)
            show_project_plan(compared, as_json=as_json)
            differs = bool(changes(compared) or compared.drift)
    if detailed_exitcode and differs:
        raise typer.Exit(BAD_ANSWER)


def definitions_of(context: typer.Context, folder: Path | None) -> ProjectDefinitions | None:
    """Return what the project says; None for a plain folder of SQL files."""
    invocation = invocation_of(context)
    if folder is not None and not folder.is_dir():
        raise ConfigError(
            f'"{folder}" is not a folder', hint="Name a folder that holds .sql files."
        )
    if folder is not None and project_in(folder) is None:
        return None
    invocation.folder = folder
    project = invocation.project()
    if project is None:
        raise ConfigError(
            "there is no project here",
            detail="Neither this folder nor one above has a streamtables.toml with environments.",
            hint="Name a folder of .sql files, or make a project: streamtables init FOLDER.",
        )
    from streamtables.project.definitions import load_definitions

    return load_definitions(project, project.environment(invocation.environment))


@contextmanager
def looked_at(context: typer.Context, warehouse: str | None) -> Iterator[Database]:
    """Open the warehouse; one that is not there yet is empty, and is not made by looking."""
    place = chosen_warehouse(context, warehouse)
    if Path(place).exists() or "://" in place or chosen_catalog(context, warehouse):
        with opened(context, warehouse) as db:
            yield db
    else:
        with TemporaryDirectory() as empty, invocation_of(context).connect(empty, None) as db:
            yield db


def changes(found: ApplyPlan) -> list[tuple[str, str, str]]:
    """Return the steps that change something."""
    return [item for item in found.items if item[0] not in QUIET]


def show_plan(found: ApplyPlan, *, as_json: bool) -> None:
    """Show the plan of a folder of SQL files."""
    if as_json:
        show_json(_items(found))
    else:
        _show_items(found, what="stream table", empty="the folder holds no .sql files")


def show_project_plan(found: ProjectPlan, *, as_json: bool) -> None:
    """Show the plan of a project, and the drift of its warehouse."""
    if as_json:
        drift = [{"kind": d.kind, "name": d.name, "text": d.text} for d in found.drift]
        about = {name: dict(said) for name, said in found.about.items()}
        answer = {"environment": found.environment, "items": _items(found), "drift": drift}
        show_json({**answer, "about": about})
        return
    show_line(f"environment {found.environment}")
    _show_items(found, what="name", empty="the project defines nothing")
    if found.drift:
        show_line("drift: the warehouse is not as it was applied")
        show_table(["", "name", "what"], [[d.kind, d.name, d.text] for d in found.drift])
    if not changes(found):
        show_line("no changes")


def _show_items(found: ApplyPlan, *, what: str, empty: str) -> None:
    rows = [list(item) for item in found.items]
    show_table(["action", what, "details"], rows, empty=empty)


def _items(found: ApplyPlan) -> list[Json]:
    return [
        {"action": action, "name": name, "details": details}
        for action, name, details in found.items
    ]
