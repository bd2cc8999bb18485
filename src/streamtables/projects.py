"""Projects: the part of the interface that compares a folder with a warehouse and applies it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from streamtables.catalog import Catalog
from streamtables.errors import ConfigError
from streamtables.project.definitions import ProjectDefinitions, load_definitions
from streamtables.project.plan import ProjectPlan, apply_project, plan_project
from streamtables.project.sdp.takeover import Takeover, take_over
from streamtables.project_file import Environment, Project, project_in

if TYPE_CHECKING:
    from streamtables.api import StreamTables


class Projects:
    """The methods of an open warehouse that are about projects."""

    _catalog: Catalog

    def plan_project(
        self,
        project: str | Path | ProjectDefinitions,
        *,
        environment: str | None = None,
        prune: bool = False,
    ) -> ProjectPlan:
        """Compare a project with this warehouse; nothing changes.

        Files in Python are run to learn what they define.
        """
        wanted = project
        if not isinstance(wanted, ProjectDefinitions):
            wanted = load_project(Path(wanted), environment)
        definitions = self._catalog.snapshot().definitions
        captures, folders = self._catalog.captures(), self._catalog.file_folders()
        return plan_project(self._itself, wanted, definitions, captures, folders, prune=prune)

    def apply_project(self, plan: ProjectPlan) -> ProjectPlan:
        """Do what a plan says: sources, then tables in an order that finds what they read."""
        return apply_project(self._itself, plan)

    def import_pipeline(
        self, place: str | Path, project: Project, environment: Environment, *, write: bool = True
    ) -> Takeover:
        """Write what a Spark Declarative Pipeline defines as files of a project.

        Nothing of the pipeline is run, and no file that is there is touched.
        """
        definitions = self._catalog.snapshot().definitions
        return take_over(Path(place), project, environment, definitions, write=write)

    @property
    def _itself(self) -> StreamTables:
        # Steps are carried out through the interface, so that each is checked and audited.
        return cast("StreamTables", self)


def load_project(folder: Path, environment: str | None = None) -> ProjectDefinitions:
    """Read a project's folder for one environment."""
    project = project_in(folder)
    if project is None:
        raise ConfigError(
            f'"{folder}" is not a project',
            detail="A project has a streamtables.toml with environments in it.",
            hint=f"Make one: streamtables init {folder}.",
        )
    return load_definitions(project, project.environment(environment))
