"""What the files of a pipeline define, whatever language they are in."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamtables.compiler.pipeline_statements import PipelineDataset, PipelineFlow


@dataclass(frozen=True)
class Unread:
    """Something of a pipeline that cannot be taken over, with its reason."""

    name: str
    file: str
    reason: str


@dataclass
class Found:
    """The datasets and flows of a pipeline, each with its file, and what was not understood."""

    datasets: list[tuple[PipelineDataset, str]] = field(default_factory=list)
    flows: list[tuple[PipelineFlow, str]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Imported:
    """What became of one dataset: incremental, full, view, unchecked or refused, and why."""

    name: str
    kind: str
    becomes: str
    reason: str
    file: str
    text: str = ""
    """What to write; empty where nothing is."""
    written: str = "-"
    """The file that says so, or why there is none."""
