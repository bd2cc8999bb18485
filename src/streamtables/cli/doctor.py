"""`streamtables doctor`: what is there, what is missing, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.contract import Database
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.findings import (
    Finding,
    find_captures,
    find_catalog,
    find_folder_rights,
    find_jars,
    find_java,
    find_packages,
    find_python,
    local_folder,
)
from streamtables.cli.invocation import (
    AsJson,
    Warehouse,
    chosen_catalog,
    chosen_warehouse,
    invocation_of,
)
from streamtables.cli.plain import pick
from streamtables.cli.safety import find_safety
from streamtables.cli.screen import show_json, show_line, show_table, working
from streamtables.errors import StreamTablesError


def doctor(
    context: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Fetch the jars when they are missing.")
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Check Python, Java, jars, packages, folder rights and catalog."""
    with working("looking round"):
        place, catalog = chosen_warehouse(context, warehouse), chosen_catalog(context, warehouse)
        findings = list(_examine(context, place, catalog, fix=fix))
    if as_json:
        show_json([pick(finding, "name", "state", "detail", "hint") for finding in findings])
    else:
        _show(findings)
    if any(finding.state == "fault" for finding in findings):
        raise typer.Exit(BAD_ANSWER)


def _examine(
    context: typer.Context, warehouse: str, catalog: str | None, *, fix: bool
) -> Iterator[Finding]:
    yield find_python()
    yield find_java()
    yield from find_packages()
    yield _settings_and_jars(warehouse, fix=fix)
    yield find_folder_rights(warehouse)
    invocation = invocation_of(context)

    def connect() -> Database:
        return invocation.connect(warehouse, catalog)

    yield from find_safety(warehouse)
    yield find_catalog(warehouse, connect)
    yield from find_captures(warehouse, connect)


def _settings_and_jars(warehouse: str, *, fix: bool) -> Finding:
    from streamtables.engine.jars import present, resolve
    from streamtables.settings import load_settings

    try:
        folder: Path = load_settings(local_folder(warehouse)).jars_dir
        if fix and not present(folder):
            resolve(folder)
        return find_jars(folder, present=present)
    except StreamTablesError as exc:
        return Finding("jars", "fault", f"error[{exc.code}]: {exc.message}", exc.hint)


def _show(findings: Sequence[Finding]) -> None:
    show_table(
        ["state", "what", "detail"],
        [[finding.state, finding.name, finding.detail] for finding in findings],
    )
    for finding in findings:
        if finding.hint:
            show_line(f"hint: {finding.hint}")
