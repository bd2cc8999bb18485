"""What was taken over, as files of a project; a file that is there stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from streamtables.compiler.library_statements import CreateView
from streamtables.compiler.statements import CreateStreamTable
from streamtables.project.front_matter import Defining
from streamtables.project.sdp.found import Imported


def file_text(statement: Defining, comment: str) -> str:
    """Return the text of a file that defines what was taken over."""
    if isinstance(statement, CreateView):
        return f"CREATE VIEW {statement.name} AS\n{statement.query}\n"
    assert isinstance(statement, CreateStreamTable)
    lines = ["---", f"name: {statement.name}"]
    if comment:
        lines.append(f"description: {' '.join(comment.split())}")
    return "\n".join([*lines, "---", statement.query, ""])


def written(folder: Path, answers: list[Imported]) -> list[Imported]:
    """Write files for what was taken over, and return the answers with what became of each."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_written(folder / f"{answer.name}.sql", answer) for answer in answers]


def _written(path: Path, answer: Imported) -> Imported:
    if not answer.text:
        return answer
    shown = f"{path.parent.name}/{path.name}"
    if path.exists():
        same = path.read_text(encoding="utf-8", errors="replace") == answer.text
        return replace(answer, written=f"{shown} is there{'' if same else ', and differs'}")
    path.write_text(answer.text, encoding="utf-8")
    return replace(answer, written=shown)
