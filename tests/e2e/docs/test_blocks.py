"""Every block of every page is of a known kind, and either runs or is excused by name."""

from __future__ import annotations

import ast
import re

import pytest

from streamtables.compiler.statements import parse_statement
from tests.e2e.docs.blocks import (
    READ,
    ROOT,
    RUN,
    SHOWN,
    Excuse,
    Piece,
    all_blocks,
    excuse_of,
    excuses,
    pages,
    pieces,
    programs,
)

FORMULAS = {"docs/theory.md", "docs/design/refresh-broker.md"}
"""Pages whose indented lines are formulas."""
INDENTED = re.compile(r"(?<=\n\n)    \S.*")


def test_every_block_says_in_which_language_it_is():
    unknown = [str(block) for block in all_blocks() if block.language not in RUN | READ | SHOWN]
    assert unknown == []


@pytest.mark.parametrize("page", sorted(pages().keys() - FORMULAS))
def test_no_code_is_outside_of_a_block(page: str):
    text = re.sub(r"^```.*?^```$", "", pages()[page], flags=re.MULTILINE | re.DOTALL)
    assert INDENTED.findall(text) == []
    assert "```" not in text


@pytest.mark.parametrize("excuse", excuses(), ids=lambda excuse: f"{excuse.page}: {excuse.why}")
def test_every_excuse_is_needed_and_says_why(excuse: Excuse):
    assert any(excuse.fits(piece) for piece in pieces(*RUN)), f"nothing begins {excuse.shows!r}"
    assert len(excuse.why) > 10
    file, _, name = excuse.test.partition("::")
    assert not file or (ROOT / file).is_file()
    assert not name or f"def {name}(" in (ROOT / file).read_text("utf-8")


def test_every_excused_program_is_on_a_page():
    shown = {piece.words[0] for piece in pieces("sh")}
    assert programs().keys() <= shown
    assert all(len(why) > 10 for why in programs().values())


def test_a_block_that_is_not_excused_runs():
    [first, *_] = pieces("sh")
    assert excuse_of(first)
    made_up = Piece(first.block, "streamtables status")
    assert excuse_of(made_up) == ""


@pytest.mark.parametrize("piece", pieces("python", "py"), ids=str)
def test_python_can_be_compiled(piece: Piece):
    ast.parse(piece.text)


@pytest.mark.parametrize(
    "piece", [piece for piece in pieces("sql") if not excuse_of(piece)], ids=str
)
def test_sql_can_be_read(piece: Piece):
    assert piece.text.lstrip().upper().startswith("SELECT") or parse_statement(piece.text)
