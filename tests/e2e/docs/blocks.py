"""The fenced blocks of README.md and of the pages in docs/, and what each of them is.

A block runs, is read, or is shown:

    python, py, sql, ipython, sh     run in the warehouse of their page (`page.py`, `stages.py`)
    toml, json, yaml, ini, cron, …   read by what would read them (`test_files_on_pages.py`)
    text                             what something printed

What cannot run is named in `not_run.toml` with the reason; it is compiled or parsed all the same.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NOT_RUN = Path(__file__).with_name("not_run.toml")
RUN = frozenset({"python", "py", "sql", "ipython", "sh"})
READ = frozenset({"toml", "json", "yaml", "ini", "cron", "dockerfile"})
SHOWN = frozenset({"text"})

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"\A(?:---\n)?(?:#|--) ([\w./-]+\.\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    """Where its text begins."""
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that it shows, by its first comment."""
        found = _FILE.match(self.text)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Piece:
    """What runs at once: a block, or one command of a block of the shell."""

    block: Block
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a command, without where its output goes."""
        words = shlex.split(self.text, comments=True)
        ends = [place for place, word in enumerate(words) if word.lstrip("2").startswith(">")]
        return words[: ends[0]] if ends else words

    def __str__(self) -> str:
        first = self.text.strip().splitlines()[0]
        return f"{self.block.page}: {first}" if self.block.language == "sh" else str(self.block)


@dataclass(frozen=True)
class Excuse:
    """Why something on a page does not run here; `test` is the test that runs it elsewhere."""

    page: str
    shows: str
    """How its text begins."""
    why: str
    test: str = ""

    def fits(self, piece: Piece) -> bool:
        return piece.block.page == self.page and piece.text.startswith(self.shows)


@cache
def pages() -> dict[str, str]:
    """Return the text of every page, by its path."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}


@cache
def all_blocks() -> tuple[Block, ...]:
    """Return the blocks of all pages."""
    return tuple(
        Block(page, text.count("\n", 0, found.start()) + 2, found[1], found[2])
        for page, text in pages().items()
        for found in _FENCE.finditer(text)
    )


def pieces(*languages: str) -> list[Piece]:
    """Return what can run, in the order of the pages."""
    return [
        piece
        for block in all_blocks()
        if block.language in languages
        for piece in (commands(block) if block.language == "sh" else [Piece(block, block.text)])
    ]


def commands(block: Block) -> Iterator[Piece]:
    """Give the commands of a block of the shell; a backslash at the end of a line goes on."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for text in line.split(" && "):
            if shlex.split(text, comments=True):
                yield Piece(block, text.strip())


@cache
def excuses() -> tuple[Excuse, ...]:
    """Return what does not run, and why."""
    listed = tomllib.loads(NOT_RUN.read_text("utf-8"))
    return tuple(
        Excuse(page, **entry)
        for page, entries in listed.items()
        if page != "programs"
        for entry in entries
    )


@cache
def programs() -> dict[str, str]:
    """Return the programs of which no command runs, and why."""
    listed: dict[str, str] = tomllib.loads(NOT_RUN.read_text("utf-8"))["programs"]
    return listed


def excuse_of(piece: Piece) -> str:
    """Return why a piece does not run; an empty text where it does."""
    if piece.block.language == "sh" and piece.words[0] in programs():
        return programs()[piece.words[0]]
    return next((excuse.why for excuse in excuses() if excuse.fits(piece)), "")
