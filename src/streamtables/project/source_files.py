"""`sources/*.toml`: where the tables are that someone else writes, in each environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from streamtables.errors import AlreadyExistsError, ConfigError
from streamtables.project_file import (
    Environment,
    Project,
    Values,
    known_keys,
    read_toml,
    refuse_password,
    table_of,
    text_of,
)

FOLDER = "sources"
_PLACES = ("path", "table", "postgres", "files")
_OF_FILES = ("format", "schema", "pattern")
_KEYS = ("name", *_PLACES, "key", "capture", "types", "enable_change_feed", *_OF_FILES, "options")


@dataclass(frozen=True)
class SourceFile:
    """One source as its file describes it for one environment."""

    name: str
    file: str
    path: str | None = None
    table: str | None = None
    postgres: str | None = None
    key: tuple[str, ...] = ()
    capture: str = "auto"
    types: tuple[tuple[str, str], ...] = ()
    enable_change_feed: bool = False
    files: str | None = None
    format: str = ""
    schema: str = ""
    pattern: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def by_name(self) -> bool:
        """Whether only Spark's catalog knows where the table is."""
        return self.path is None and self.postgres is None and self.files is None

    @property
    def place(self) -> str:
        """Where the table is, in one line that holds no secret."""
        if self.files is not None:
            return self.files
        if self.postgres is not None:
            return f"{self.table} of {self.postgres}"
        return self.path if self.path is not None else f"table {self.table}"


def read_sources(project: Project, environment: Environment) -> tuple[SourceFile, ...]:
    """Return all sources of a project, as they are in an environment."""
    from streamtables.catalog.names import check_name

    found: dict[str, SourceFile] = {}
    for path in sorted((project.folder / FOLDER).rglob("*.toml")):
        source = _source(project, environment, path)
        check_name(source.name)
        if source.name.lower() in found:
            raise AlreadyExistsError(f'two files define the source "{source.name}"')
        found[source.name.lower()] = source
    return tuple(found.values())


def _source(project: Project, environment: Environment, path: Path) -> SourceFile:
    file = path.relative_to(project.folder).as_posix()
    place = f'the file "{file}"'
    values = dict(read_toml(path))
    elsewhere = table_of(values, "environments", place)
    values.pop("environments", None)
    known_keys(values, _KEYS, place)
    for name in elsewhere:
        project.environment(name)
        known_keys(table_of(elsewhere, name, place), _KEYS[1:], f"environment {name} of {place}")
    here = table_of(elsewhere, environment.name, place)
    if any(key in here for key in _PLACES):
        # Another place replaces the first one: a path here and a table there would be two.
        values = {key: value for key, value in values.items() if key not in _PLACES}
    return _checked({**values, **here}, project, path.stem, file)


def _checked(values: Values, project: Project, stem: str, file: str) -> SourceFile:
    place = f'the file "{file}"'
    path, table, postgres, files = (text_of(values, key, place) or None for key in _PLACES)
    places = sum(given is not None for given in (path, table, files))
    if places != 1 or (postgres is not None and table is None):
        raise ConfigError(
            f"{place} does not say where the source is",
            hint='Give path = "…", or table = "…" of Spark\'s catalog, or postgres and table, '
            'or files = "…" for a folder of files.',
        )
    refuse_password(postgres or "", "postgres", place)
    types, options = (table_of(values, key, place) for key in ("types", "options"))
    return SourceFile(
        name=text_of(values, "name", place) or stem,
        file=file,
        path=_inside(path, project),
        table=table,
        postgres=postgres,
        key=_texts(values.get("key", []), "key", place),
        capture=text_of(values, "capture", place) or "auto",
        types=tuple((column, text_of(types, column, place)) for column in types),
        enable_change_feed=_flag(values, "enable_change_feed", place),
        files=_inside(files, project),
        format=text_of(values, "format", place),
        schema=text_of(values, "schema", place),
        pattern=text_of(values, "pattern", place),
        options=tuple((name, text_of(options, name, place)) for name in options),
    )


def _inside(path: str | None, project: Project) -> str | None:
    """Return a path as seen from the folder of the project; a URI is what it is."""
    if path is None or "://" in path:
        return path
    return str(project.folder / Path(path).expanduser())


def _texts(value: object, key: str, place: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if isinstance(listed, list) and all(isinstance(item, str) for item in listed):
        return tuple(listed)
    raise ConfigError(f'"{key}" of {place} is not a list of names', hint=f'Write {key} = ["id"].')


def _flag(values: Values, key: str, place: str) -> bool:
    found = values.get(key, False)
    if isinstance(found, bool):
        return found
    raise ConfigError(f'"{key}" of {place} is neither true nor false')
