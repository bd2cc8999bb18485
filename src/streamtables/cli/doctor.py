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
    s3: Annotated[
        bool,
        typer.Option("--s3", help="Look for the jars that tables on S3 need, too."),
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Check Python, Java, jars, packages, folder rights and catalog."""
    with working("looking round"):
        place, catalog = chosen_warehouse(context, warehouse), chosen_catalog(context, warehouse)
        findings = list(_examine(context, place, catalog, fix=fix, s3=s3))
    if as_json:
        show_json([pick(finding, "name", "state", "detail", "hint") for finding in findings])
    else:
        _show(findings)
    if any(finding.state == "fault" for finding in findings):
        raise typer.Exit(BAD_ANSWER)


def _examine(
    context: typer.Context, warehouse: str, catalog: str | None, *, fix: bool, s3: bool
) -> Iterator[Finding]:
    yield find_python()
    yield find_java()
    yield from find_packages()
    yield from _settings_and_jars(warehouse, fix=fix, s3=s3 or warehouse.startswith("s3"))
    yield find_folder_rights(warehouse)
    invocation = invocation_of(context)

    def connect() -> Database:
        return invocation.connect(warehouse, catalog)

    yield from find_safety(warehouse)
    yield find_catalog(warehouse, connect)
    yield from find_captures(warehouse, connect)


def _settings_and_jars(warehouse: str, *, fix: bool, s3: bool) -> Iterator[Finding]:
    from streamtables.engine import jars
    from streamtables.settings import load_settings

    remote = "://" in warehouse and not warehouse.startswith("file:")
    try:
        folder: Path = load_settings(warehouse if remote else local_folder(warehouse)).jars_dir
        if fix and not jars.present(folder):
            jars.resolve(folder)
        yield find_jars("jars", folder, there=bool(jars.present(folder)))
        if s3:
            inner = jars.s3_folder(folder)
            if fix and not jars.present(inner, jars.S3):
                jars.resolve(inner, jars.S3)
            there = bool(jars.present(inner, jars.S3))
            yield find_jars("jars for S3", inner, there=there, option=" --s3")
    except StreamTablesError as exc:
        yield Finding("jars", "fault", f"error[{exc.code}]: {exc.message}", exc.hint)


def _show(findings: Sequence[Finding]) -> None:
    show_table(
        ["state", "what", "detail"],
        [[finding.state, finding.name, finding.detail] for finding in findings],
    )
    for finding in findings:
        if finding.hint:
            show_line(f"hint: {finding.hint}")
