"""A section of the page: what it shows of one file of results, or how to measure it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill

from benchmarks.machine import machine_text
from benchmarks.pages import Results


@dataclass(frozen=True)
class Shown:
    """What a section shows: lines of Markdown, and pictures by name."""

    lines: Sequence[str]
    pictures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A title, what is measured, the command that measures it, and how its results are shown."""

    title: str
    about: str
    stem: str
    """The file of its results, without its ending; sections may share one."""
    command: str
    shown: Callable[[Results], Shown | None]
    """None where the file lacks what this section shows."""

    def render(self, results: Results | None) -> Shown:
        """Return the section, with its results where there are any."""
        head = [f"## {self.title}", "", prose(self.about), "", "```sh", self.command, "```", ""]
        found = self.shown(results) if results is not None else None
        if results is None or found is None:
            return Shown([*head, "Not measured yet; the command above measures it.", ""])
        told = f"{machine_text(results['machine'])}; measured {results['started_at'][:10]}."
        pictures = [_picture(name, text) for name, text in found.pictures.items()]
        return Shown([*head, told, "", *pictures, *found.lines, ""], found.pictures)


def prose(text: str) -> str:
    """Return a paragraph in lines as wide as those of the other pages."""
    return fill(text.strip(), 130, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of Markdown."""
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def _picture(name: str, text: str) -> str:
    title = text.split("<title>", 1)[1].split("</title>", 1)[0]
    return f"![{title}](performance/{name}.svg)\n"
