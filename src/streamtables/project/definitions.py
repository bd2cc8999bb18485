"""Everything that a project's folder says for one environment, read and not yet compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from streamtables.apply_folder import read_text, refuse_twins
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import AlreadyExistsError, ConfigError
from streamtables.project.front_matter import (
    CHOICES,
    OPTIONS,
    Defined,
    Defining,
    read_sql_file,
    with_choices,
)
from streamtables.project.python_tables import read_python_file
from streamtables.project.source_files import SourceFile, read_sources
from streamtables.project_file import EVERY_TABLE, Environment, Project, Values, known_keys

FOLDER = "tables"


@dataclass(frozen=True)
class ProjectDefinitions:
    """The sources and definitions of a project in one environment."""

    project: Project
    environment: Environment
    sources: tuple[SourceFile, ...]
    defined: tuple[Defined, ...]

    @property
    def statements(self) -> list[Defining]:
        """The definitions alone."""
        return [item.statement for item in self.defined]

    def about(self, name: str) -> Defined | None:
        """Return what the files say of a name."""
        by_name = {item.statement.name.lower(): item for item in self.defined}
        return by_name.get(name.lower())


def load_definitions(project: Project, environment: Environment) -> ProjectDefinitions:
    """Read all files of a project; those in Python are run."""
    sources = read_sources(project, environment)
    defined = [item for path in _files(project) for item in _read(project, path)]
    refuse_twins([item.statement for item in defined])
    names = {item.statement.name.lower(): item.file for item in defined}
    for source in sources:
        if source.name.lower() in names:
            raise AlreadyExistsError(
                f'"{source.file}" and "{names[source.name.lower()]}" define "{source.name}"'
            )
    _check_choices(project, environment, names)
    chosen = tuple(_with_choices(item, project, environment) for item in defined)
    return ProjectDefinitions(project, environment, sources, chosen)


def _files(project: Project) -> list[Path]:
    folder = project.folder / FOLDER
    if not folder.is_dir():
        raise ConfigError(
            f'project "{project.name}" has no folder "{FOLDER}"',
            hint=f"Make {project.folder / FOLDER} with a .sql or .py file for each stream table.",
        )
    found = [*folder.rglob("*.sql"), *folder.rglob("*.py")]
    return sorted(path for path in found if not path.name.startswith("_"))


def _read(project: Project, path: Path) -> list[Defined]:
    file = path.relative_to(project.folder).as_posix()
    if path.suffix == ".py":
        return read_python_file(path, file=file, root=project.folder)
    return read_sql_file(read_text(path), file=file, stem=path.stem)


def _check_choices(project: Project, environment: Environment, names: Mapping[str, str]) -> None:
    for tables in (project.tables, environment.tables):
        for name, values in tables.items():
            known_keys(values, (*CHOICES, *OPTIONS), f'the choices of table "{name}"')
            if name != EVERY_TABLE and name.lower() not in names:
                close = get_close_matches(name.lower(), names, n=1)
                raise ConfigError(
                    f'streamtables.toml speaks of table "{name}", which no file defines',
                    hint=f'Did you mean "{close[0]}"?' if close else "",
                )


def _with_choices(item: Defined, project: Project, environment: Environment) -> Defined:
    """Add what the project's file chooses: defaults first, the environment last."""
    statement = item.statement
    if not isinstance(statement, CreateStreamTable):
        return item
    every = {**_of(project.tables, EVERY_TABLE), **_of(environment.tables, EVERY_TABLE)}
    said = _said(statement)
    absent = {key: value for key, value in every.items() if key not in said}
    own = {**_of(project.tables, statement.name), **_of(environment.tables, statement.name)}
    return replace(item, statement=with_choices(statement, {**absent, **own}))


def _of(tables: Mapping[str, Values], name: str) -> Values:
    by_name = {key.lower(): values for key, values in tables.items()}
    return by_name.get(name.lower(), {})


def _said(statement: CreateStreamTable) -> set[str]:
    chosen = {name for name in CHOICES if getattr(statement, name) is not None}
    return chosen | {name.lower() for name in statement.options}
