"""One run of the command line: which warehouse, and how to open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.contract import Connect, Database
from streamtables.errors import ConfigError
from streamtables.project_file import Project, find_project

DEFAULT_WAREHOUSE = "warehouse"

Warehouse = Annotated[
    str | None,
    typer.Option(
        "--warehouse",
        "-w",
        help="Folder or URI of the warehouse; else $STREAMTABLES_WAREHOUSE, else that of the "
        "project's environment, else ./warehouse.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
TableArgument = Annotated[str, typer.Argument(help="Name of the stream table.", metavar="NAME")]


@dataclass
class Invocation:
    """What the options before the command said."""

    connect: Connect
    warehouse: str | None = None
    catalog: str | None = None
    environment: str | None = None
    insists: bool = False
    """Whether the environment was named on the command line, and not by a variable."""
    folder: Path | None = None
    """Where the project is looked for; the current folder where none is named."""

    def project(self) -> Project | None:
        """Return the project that the folder belongs to."""
        found = find_project(self.folder or Path.cwd())
        if found is None and self.insists:
            raise ConfigError(
                f'there is no project here that has an environment "{self.environment}"',
                hint="Go to the folder of a project, or make one: streamtables init FOLDER.",
            )
        return found


def connect_by_package(warehouse: str, catalog: str | None) -> Database:
    """Open a warehouse through the public API, which is imported only now."""
    import streamtables

    database: Database = streamtables.connect(warehouse, catalog=catalog)
    return database


def environment_first(words: list[str]) -> list[str]:
    """Return a command line with `--env NAME` at the front, wherever it stood.

    >>> environment_first(["plan", "--env", "prod", "--json"])
    ['--env', 'prod', 'plan', '--json']
    """
    end = words.index("--") if "--" in words else len(words)
    for place, word in enumerate(words[:end]):
        if word.startswith("--env="):
            return [word, *words[:place], *words[place + 1 :]]
        if word == "--env" and place + 1 < end:
            return [*words[place : place + 2], *words[:place], *words[place + 2 :]]
    return words


def given_by_variable(context: typer.Context, name: str) -> bool:
    """Return whether an option's value comes from the environment of the process."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "ENVIRONMENT"


def invocation_of(context: typer.Context) -> Invocation:
    """Return the run that a command belongs to."""
    invocation = context.obj
    assert isinstance(invocation, Invocation)
    return invocation


def chosen_warehouse(context: typer.Context, warehouse: str | None) -> str:
    """Return the warehouse that is named, else that of the project, else the default."""
    invocation = invocation_of(context)
    named = warehouse or invocation.warehouse
    if named and not invocation.insists:
        return named
    project = invocation.project()
    if named or project is None:
        return named or DEFAULT_WAREHOUSE
    return project.warehouse_of(project.environment(invocation.environment))


def chosen_catalog(context: typer.Context, warehouse: str | None) -> str | None:
    """Return the catalog that is named, else that of the project where its warehouse is used."""
    invocation = invocation_of(context)
    if invocation.catalog or warehouse or invocation.warehouse:
        return invocation.catalog
    project = invocation.project()
    catalog = project.environment(invocation.environment).catalog if project else None
    if catalog is None:
        return None
    from streamtables.settings import resolve_secret

    return resolve_secret(catalog)


@contextmanager
def opened(context: typer.Context, warehouse: str | None) -> Iterator[Database]:
    """Open the warehouse for the length of one command."""
    place, catalog = chosen_warehouse(context, warehouse), chosen_catalog(context, warehouse)
    with invocation_of(context).connect(place, catalog) as database:
        yield database
