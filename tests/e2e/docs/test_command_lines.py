"""Every command line of every page is one that its program understands."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from tests.e2e.docs.blocks import Piece, pages, pieces
from tests.e2e.docs.command_lines import read_address, read_command, read_streamtables

# What PostgreSQL shows of our connections, and what stands for a name of Spark's jobs.
NOT_COMMANDS = {"streamtables NAME"} | {
    f"streamtables {work}" for work in ("copy", "drain", "look")
}
# What stands for something that the reader has, and an example of it.
STANDS_FOR = {"NAME": "revenue", "FOLDER": "folder", "BACKUP": "backup", "WAREHOUSE": "warehouse"}
_OUTSIDE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:streamtables|make|pip install|python -m) [^`]+)`")
_ADDRESS = re.compile(r"(?:(GET|POST) )?(/api/[\w/{}.]*[\w}])")


def inline_commands() -> list[str]:
    """Return the commands that stand within sentences."""
    found = {
        " ".join(command.split())
        for text in pages().values()
        for command in _INLINE.findall(_OUTSIDE.sub("", text))
    }
    return sorted(found - NOT_COMMANDS)


def shown_addresses() -> list[tuple[str, str]]:
    """Return the addresses of the JSON API that stand within sentences, with their methods."""
    found = {
        (method, path)
        for page, text in pages().items()
        if page != "docs/http.md"
        for method, path in _ADDRESS.findall(_OUTSIDE.sub("", text))
    }
    return sorted(found)


@pytest.mark.parametrize("piece", pieces("sh"), ids=str)
def test_a_command_of_a_block_is_understood(piece: Piece):
    read_command(piece.words)


@pytest.mark.parametrize("command", inline_commands())
def test_a_command_within_a_sentence_is_understood(command: str):
    # A command may stand for all of its kind: `validate` of whatever query.
    words = [STANDS_FOR.get(word, word) for word in shlex.split(command) if word != "…"]
    try:
        read_command(words)
    except typer.TyperException as error:
        if "Missing argument" not in error.format_message():
            raise


@pytest.mark.parametrize(
    "command",
    ["streamtables repiar x", "streamtables restore b --onto w", "streamtables run --twice"],
)
def test_a_wrong_command_would_be_found(command: str):
    with pytest.raises(typer.TyperException):
        read_streamtables(shlex.split(command)[1:])


@pytest.mark.parametrize(
    "command",
    [
        "make tets",
        "make setup ARGS=--quick",
        "make bench ARGS=--quickly",
        "python -m benchmarks.nothing",
        "python -m benchmarks.operators --rowz 2",
        "python -m pytest tests/nothing",
        "pip install streamtables[nothing]",
        "curl localhost:8321/api/nothing",
        "curl -X POST localhost:8321/api/jobs",
        "spark-submit --packages io.delta:delta-spark_4.2_2.13:1.0.0",
        "scripts/setup.sh nothing",
        "rm -rf warehouse",
    ],
)
def test_a_wrong_command_of_another_program_would_be_found(command: str):
    with pytest.raises(AssertionError):
        read_command(shlex.split(command))


@pytest.mark.parametrize(("method", "path"), shown_addresses())
def test_an_address_within_a_sentence_is_there(method: str, path: str):
    read_address(path, *([method] if method else ["GET", "POST"]))
