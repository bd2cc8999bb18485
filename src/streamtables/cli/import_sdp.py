"""`streamtables import sdp`: take a Spark Declarative Pipeline over into a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, invocation_of
from streamtables.cli.plain import pick
from streamtables.cli.plan import looked_at
from streamtables.cli.screen import show_json, show_line, show_table
from streamtables.errors import ConfigError


def sdp(
    context: typer.Context,
    pipeline: Annotated[
        Path, typer.Argument(help="Folder of a pipeline, its spark-pipeline.yml, or one file.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the report and write nothing.")
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Write the views of a Spark Declarative Pipeline as stream tables of the project here.

    Python files are read by their syntax and never run. Exit 1 when something was refused.
    """
    invocation = invocation_of(context)
    project = invocation.project()
    if project is None:
        raise ConfigError(
            "there is no project here to import into",
            hint="Make one first: streamtables init FOLDER, and go there.",
        )
    environment = project.environment(invocation.environment)
    with looked_at(context, warehouse) as db:
        done = db.import_pipeline(pipeline, project, environment, write=not dry_run)
    if as_json:
        answers = [
            {**pick(item, "name", "kind", "becomes", "reason", "file"), "written": item.written}
            for item in done.answers
        ]
        show_json({"views": answers, "notes": list(done.notes)})
    else:
        rows = [[i.name, i.kind, i.becomes, i.written, i.reason] for i in done.answers]
        show_table(["name", "was", "becomes", "file", "why"], rows, empty="the pipeline is empty")
        for note in done.notes:
            show_line(note)
    if any(item.becomes == "refused" for item in done.answers):
        raise typer.Exit(BAD_ANSWER)
