"""A pipeline taken over from end to end: read, judged, written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from streamtables.catalog.definitions import Definitions
from streamtables.errors import StreamTablesError
from streamtables.project.checking import Trial
from streamtables.project.definitions import FOLDER
from streamtables.project.sdp.found import Imported
from streamtables.project.sdp.importing import Judge
from streamtables.project.sdp.reading import read_pipeline
from streamtables.project.sdp.spec import files_of
from streamtables.project.sdp.writing import written
from streamtables.project.source_files import read_sources
from streamtables.project_file import Environment, Project


@dataclass(frozen=True)
class Takeover:
    """What became of each dataset, and what else is worth knowing."""

    answers: tuple[Imported, ...]
    notes: tuple[str, ...]


def take_over(
    place: Path,
    project: Project,
    environment: Environment,
    definitions: Definitions,
    *,
    write: bool,
) -> Takeover:
    """Judge a pipeline by the sources of a project, and write what can be taken over."""
    files = files_of(place)
    found = read_pipeline(files)
    trial = Trial(definitions)
    for source in read_sources(project, environment):
        if definitions.named(source.name) is None:
            try:
                trial.add_source(source)
            except StreamTablesError as error:
                trial.unknown.add(source.name.lower())
                found.notes.append(f"source {source.name}: {error.message}")
    answers = Judge(found, files, trial).judged()
    if write:
        answers = written(project.folder / FOLDER, answers)
    return Takeover(tuple(answers), tuple(found.notes))
