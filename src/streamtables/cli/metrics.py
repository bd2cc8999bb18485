"""`streamtables metrics`: one scrape, and the files that alert and draw by it."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import Annotated

import typer

from streamtables.cli.invocation import Warehouse, opened
from streamtables.errors import ConfigError

RULES, DASHBOARD = "alerts.yaml", "dashboard.json"


def metrics(
    context: typer.Context,
    rules: Annotated[
        bool, typer.Option("--rules", help="Print the alert rules for Prometheus instead.")
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Print the dashboard for Grafana instead.")
    ] = False,
    warehouse: Warehouse = None,
) -> None:
    """Print the metrics as Prometheus would scrape them, from one look at the catalog.

    What a process counts while it runs is told by that process: run --metrics-port.
    """
    if rules and dashboard:
        raise ConfigError("--rules and --dashboard are two files", hint="Ask for one at a time.")
    if rules or dashboard:
        sys.stdout.write(shipped(RULES if rules else DASHBOARD))
        return
    with opened(context, warehouse) as db:
        sys.stdout.write(db.metrics_text())


def shipped(name: str) -> str:
    """Return a file that comes with the package."""
    return (files("streamtables.observe") / "rules" / name).read_text(encoding="utf-8")
