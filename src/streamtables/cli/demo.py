"""`streamtables demo`: a small shop whose stream tables follow its changes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.screen import console


def demo(
    rows: Annotated[
        int, typer.Option("--rows", min=1_000, help="Order lines to make.")
    ] = 1_000_000,
    folder: Annotated[
        Path, typer.Option("--folder", help="Where the shop and its warehouse go.")
    ] = Path("demo"),
) -> None:
    """Watch five stream tables follow a small shop."""
    importlib.import_module("streamtables.demo").run(console().print, folder, rows=rows)
