"""One run of the command line: which warehouse, and how to open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from streamtables.cli.contract import Connect, Database

DEFAULT_WAREHOUSE = "warehouse"

Warehouse = Annotated[
    str | None,
    typer.Option(
        "--warehouse",
        "-w",
        help="Folder or URI of the warehouse; else $STREAMTABLES_WAREHOUSE, else ./warehouse.",
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


def connect_by_package(warehouse: str, catalog: str | None) -> Database:
    """Open a warehouse through the public API, which is imported only now."""
    import streamtables

    database: Database = streamtables.connect(warehouse, catalog=catalog)
    return database


def invocation_of(context: typer.Context) -> Invocation:
    """Return the run that a command belongs to."""
    invocation = context.obj
    assert isinstance(invocation, Invocation)
    return invocation


def chosen_warehouse(context: typer.Context, warehouse: str | None) -> str:
    """Return the warehouse named at the command, before it, in the environment, or the default."""
    return warehouse or invocation_of(context).warehouse or DEFAULT_WAREHOUSE


@contextmanager
def opened(context: typer.Context, warehouse: str | None) -> Iterator[Database]:
    """Open the warehouse for the length of one command."""
    invocation = invocation_of(context)
    with invocation.connect(chosen_warehouse(context, warehouse), invocation.catalog) as database:
        yield database
