"""`streamtables pause` and `resume`: stop refreshing stream tables for a while."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import Warehouse, opened
from streamtables.cli.screen import show_line, working
from streamtables.errors import ConfigError

_Name = Annotated[
    str | None,
    typer.Argument(help="Name of the stream table.", metavar="NAME", show_default=False),
]
_Namespace = Annotated[
    str | None,
    typer.Option("--namespace", help="All tables of this namespace.", show_default=False),
]
_All = Annotated[bool, typer.Option("--all", help="Every stream table.")]


def pause(
    context: typer.Context,
    name: _Name = None,
    namespace: _Namespace = None,
    everything: _All = False,
    reason: Annotated[str, typer.Option(help="Why, for those who look.")] = "paused by a user",
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when nothing of it is being refreshed.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="With --wait: for how many seconds at most.", show_default=False, min=0.0
        ),
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Stop refreshing a stream table, a namespace or all. Rows stay readable."""
    what, again = _named(name, namespace, everything)
    if timeout is not None and not wait:
        raise ConfigError("--timeout needs --wait", hint="Add --wait, or leave --timeout out.")
    with opened(context, warehouse) as db, working("waiting for what runs"):
        db.pause(name, reason, namespace=namespace, wait=wait, timeout=timeout)
    show_line(f"{what} is paused; go on: streamtables resume {again}")


def resume(
    context: typer.Context,
    name: _Name = None,
    namespace: _Namespace = None,
    everything: _All = False,
    warehouse: Warehouse = None,
) -> None:
    """Go on refreshing what was paused or suspended."""
    what, _ = _named(name, namespace, everything)
    with opened(context, warehouse) as db:
        db.resume(name, namespace=namespace)
    show_line(f"{what} goes on")


def _named(name: str | None, namespace: str | None, everything: bool) -> tuple[str, str]:
    """Return how to call what is meant, and how to say it again on the command line."""
    if [name is not None, namespace is not None, everything].count(True) != 1:
        raise ConfigError(
            "name one stream table, or --namespace, or --all",
            hint="As in: streamtables pause revenue.",
        )
    if name is not None:
        return f'stream table "{name}"', name
    if namespace is not None:
        return f'namespace "{namespace}"', f"--namespace {namespace}"
    return "every stream table", "--all"
