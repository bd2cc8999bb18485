"""The files of a pipeline, read and not run."""

from __future__ import annotations

from streamtables.apply_folder import read_text
from streamtables.compiler.pipeline_statements import (
    PipelineDataset,
    PipelineSetting,
    parse_pipeline_statement,
)
from streamtables.compiler.statements import split_statements
from streamtables.errors import StreamTablesError
from streamtables.project.sdp.found import Found, Unread
from streamtables.project.sdp.python_views import read_python
from streamtables.project.sdp.spec import PipelineFiles


def read_pipeline(files: PipelineFiles) -> Found:
    """Read all files of a pipeline; none is run."""
    found = Found()
    for path in files.files:
        file = path.relative_to(files.root).as_posix()
        if path.suffix == ".py":
            read_python(read_text(path), file, found)
        elif path.suffix == ".sql":
            _read_sql(read_text(path), file, found)
        else:
            found.unread.append(Unread(file, file, "pipelines have .sql and .py files alone"))
    if files.configuration:
        names = ", ".join(sorted(files.configuration))
        found.notes.append(f"configuration is not taken over: {names}")
    return found


def _read_sql(text: str, file: str, found: Found) -> None:
    try:
        pieces = split_statements(text)
    except StreamTablesError as error:
        found.unread.append(Unread(file, file, f"{error.code} {error.message}"))
        return
    for piece in pieces:
        try:
            statement = parse_pipeline_statement(piece)
        except StreamTablesError as error:
            name = " ".join(piece.split())[:40]
            found.unread.append(Unread(name, file, f"{error.code} {error.message}"))
            continue
        if isinstance(statement, PipelineSetting):
            found.notes.append(f"{file}: not taken over: {statement.text}")
        elif isinstance(statement, PipelineDataset):
            found.datasets.append((statement, file))
        else:
            found.flows.append((statement, file))
