"""Every command line of the operations page is one that the command line understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from streamtables.cli.app import build_app
from streamtables.cli.invocation import Invocation, connect_by_package

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operations.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines()]
INLINE = re.findall(r"`(streamtables [^`]+)`", PAGE.read_text())


def parsed(line: str) -> str:
    """Read a command line by the parsers of its commands, and run nothing; return the command."""
    program, *words = shlex.split(line)
    assert program == "streamtables"
    command = typer.main.get_command(build_app(rich_help=False))
    context, name = None, "streamtables"
    while True:
        context = command.make_context(
            name, words, parent=context, obj=Invocation(connect=connect_by_package)
        )
        if not hasattr(command, "resolve_command"):
            return name
        rest = [*context._protected_args, *context.args]
        found, command, words = command.resolve_command(context, rest)
        assert found is not None
        name = found


@pytest.mark.parametrize("line", sorted({*LINES, *INLINE}))
def test_a_command_line_is_understood(line: str):
    if line.endswith("--version"):
        with pytest.raises(typer.Exit):
            parsed(line)
    else:
        parsed(line)


@pytest.mark.parametrize("line", ["streamtables repiar x", "streamtables restore b --onto w"])
def test_a_wrong_one_would_be_found(line: str):
    with pytest.raises(typer.TyperException):
        parsed(line)


def test_every_runbook_is_there():
    titles = re.findall(r"^## (.*)$", PAGE.read_text(), flags=re.MULTILINE)
    for word in ("Backup", "Restore", "slot", "suspended", "damaged", "disk", "Upgrade", "stop"):
        assert any(word in title for title in titles), word
    assert len(LINES) >= 20
