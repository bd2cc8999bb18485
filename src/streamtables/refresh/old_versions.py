"""The inputs as they stood before a refresh, for programs that read them so."""

from __future__ import annotations

from streamtables.compiler.backend.statement import Program, view_name
from streamtables.engine.binding import TableVersion, bind
from streamtables.engine.handles import Session
from streamtables.engine.programs import reads
from streamtables.refresh.task import Task


def bind_before(spark: Session, task: Task, program: Program) -> None:
    """Bind the version of each changed input that the stored rows stand for, where it is read."""
    for item in task.changed:
        view = view_name(item.name, "before")
        if reads(program, view):
            bind(spark, view, TableVersion(item.location, task.window(item).since))
