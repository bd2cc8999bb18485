"""`streamtables bench`: what a small change costs on this machine."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table

_FIELDS = ("table", "differential_seconds", "full_seconds", "ratio", "differential", "full")


def bench(
    rows: Annotated[
        int, typer.Option("--rows", min=1_000, help="Order lines to make.")
    ] = 1_000_000,
    changes: Annotated[
        int, typer.Option("--changes", min=1, help="Order lines that come in each round.")
    ] = 1_000,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=100, help="Rounds after the first.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure refreshes by changes against full ones on this machine; nothing is left behind."""
    tell = (lambda _: None) if as_json else show_line
    measured = importlib.import_module("streamtables.demo.bench").measure
    found = measured(rows, changes, rounds, tell)
    if as_json:
        show_json([pick(item, *_FIELDS) for item in found])
        return
    show_table(
        ["table", "by changes, s", "full, s", "full / by changes"],
        [[i.table, i.differential_seconds, i.full_seconds, i.ratio] for i in found],
    )
