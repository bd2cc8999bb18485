"""`streamtables.toml` of a project: its name, its environments, and what they choose.

A file with `environments` in it is a project's; one without is a plain file of settings.  This
module is read by every command, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from streamtables.errors import ConfigError

FILE_NAME = "streamtables.toml"
EVERY_TABLE = "*"
"""The entry of `tables` that speaks for all of them."""

Values = Mapping[str, object]
TableChoices = Mapping[str, Values]

_PROJECT_KEYS = ("name", "default_environment", "settings", "environments", "tables")
_ENVIRONMENT_KEYS = ("warehouse", "catalog", "settings", "tables")
_PASSWORD = re.compile(r"://[^/@:]*:(?!\$\{)[^@]+@|password\s*=\s*(?!\$\{)\S", re.IGNORECASE)


@dataclass(frozen=True)
class Environment:
    """One place where the project lives: a warehouse with settings and choices of its own."""

    name: str
    warehouse: str
    catalog: str | None = None
    settings: Values = field(default_factory=dict, hash=False)
    tables: TableChoices = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Project:
    """A folder with a project's file."""

    name: str
    folder: Path
    environments: Mapping[str, Environment] = field(hash=False)
    default_environment: str
    settings: Values = field(default_factory=dict, hash=False)
    tables: TableChoices = field(default_factory=dict, hash=False)

    def environment(self, name: str | None = None) -> Environment:
        """Return the environment of a name, or the one that holds where none is named."""
        wanted = name or self.default_environment
        if wanted in self.environments:
            return self.environments[wanted]
        close = get_close_matches(wanted, self.environments, n=1)
        raise ConfigError(
            f'project "{self.name}" has no environment "{wanted}"',
            detail=f"Its environments: {', '.join(self.environments)}.",
            hint=f'Did you mean "{close[0]}"?' if close else "",
        )

    def warehouse_of(self, environment: Environment) -> str:
        """Return where the warehouse of an environment is; a plain path starts at the project."""
        from streamtables.settings import resolve_secret

        text = resolve_secret(environment.warehouse)
        return text if "://" in text else str(self.folder / Path(text).expanduser())

    def settings_at(self, warehouse: Path | str | None) -> dict[str, object]:
        """Return the project's settings, with those of the environment that lives there."""
        found = dict(self.settings)
        for environment in self.environments.values():
            if warehouse is not None and self._lives_at(environment, warehouse):
                found |= environment.settings
        return found

    def _lives_at(self, environment: Environment, warehouse: Path | str) -> bool:
        try:
            place = self.warehouse_of(environment)
        except ConfigError:
            # The variable of another environment need not be set here.
            return False
        if isinstance(warehouse, str) or "://" in place:
            return place.rstrip("/") == str(warehouse)
        return Path(place).resolve() == warehouse.resolve()


def find_project(start: Path) -> Project | None:
    """Return the project that a folder belongs to: the nearest one, the folder itself first."""
    folder = start.absolute()
    for candidate in (folder, *folder.parents):
        if (found := project_in(candidate)) is not None:
            if candidate != folder:
                _refuse_foreign(candidate / FILE_NAME)
            return found
    return None


def _refuse_foreign(path: Path) -> None:
    """Refuse a file above that somebody else may have put there: it decides what is run."""
    if path.stat().st_uid not in _trusted():
        raise ConfigError(
            f'the project file "{path}" belongs to somebody else',
            detail="It was found above the current folder, and a project can run code.",
            hint=f"If you trust it, go to {path.parent} and run the command there.",
        )


def _trusted() -> frozenset[int]:
    return frozenset({0, os.getuid()})


def project_in(folder: Path) -> Project | None:
    """Return the project whose file stands in a folder; None without one."""
    path = folder / FILE_NAME
    try:
        if not path.is_file():
            return None
    except OSError:
        return None
    values = read_toml(path)
    return read_project(values, path) if "environments" in values else None


def read_toml(path: Path) -> dict[str, object]:
    """Return what a TOML file says."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise ConfigError(f'cannot read the settings file "{path}"', detail=f"{exc}.") from exc


def read_project(values: Values, path: Path) -> Project:
    """Return the project that a file describes, or refuse what it cannot mean."""
    place = f'the file "{path}"'
    known_keys(values, _PROJECT_KEYS, place)
    folder = path.parent.absolute()
    tables = table_of(values, "environments", place)
    if not tables:
        raise ConfigError(
            f"{place} has no environment", hint='Add [environments.dev] with warehouse = "…".'
        )
    environments = {
        name: _environment(name, table_of(tables, name, place), place) for name in tables
    }
    default = text_of(values, "default_environment", place) or next(iter(environments))
    project = Project(
        name=text_of(values, "name", place) or folder.name,
        folder=folder,
        environments=environments,
        default_environment=default,
        settings=_settings(values, place),
        tables=_tables(values, place),
    )
    project.environment(default)
    _refuse_shared_warehouses(project)
    return project


def _environment(name: str, values: Values, place: str) -> Environment:
    where = f"environment {name} of {place}"
    known_keys(values, _ENVIRONMENT_KEYS, where)
    warehouse = text_of(values, "warehouse", where)
    if not warehouse:
        raise ConfigError(
            f"{where} names no warehouse", hint=f'Add warehouse = "warehouse/{name}".'
        )
    catalog = text_of(values, "catalog", where) or None
    refuse_password(catalog or "", "catalog", where)
    return Environment(name, warehouse, catalog, _settings(values, where), _tables(values, where))


def _refuse_shared_warehouses(project: Project) -> None:
    seen: dict[str, str] = {}
    for environment in project.environments.values():
        other = seen.setdefault(environment.warehouse, environment.name)
        if other != environment.name:
            raise ConfigError(
                f'environments "{other}" and "{environment.name}" share one warehouse',
                hint="Give each environment a warehouse of its own.",
            )


def _settings(values: Values, place: str) -> Values:
    from streamtables.settings import SETTINGS

    found = table_of(values, "settings", place)
    for name, value in found.items():
        if name in SETTINGS and SETTINGS[name].secret and not _is_reference(value):
            raise ConfigError(
                f'{place} holds the secret "{name}" itself',
                hint="Write a reference: ${env:NAME}, or ${file:path}.",
            )
    return found


def _tables(values: Values, place: str) -> TableChoices:
    tables = table_of(values, "tables", place)
    return {name: table_of(tables, name, f"tables of {place}") for name in tables}


def known_keys(values: Values, known: tuple[str, ...], place: str) -> None:
    """Refuse a key that means nothing, with the one that may have been meant."""
    for key in values:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            raise ConfigError(
                f'{place} has the unknown key "{key}"',
                detail=f"Known: {', '.join(known)}.",
                hint=f'Did you mean "{close[0]}"?' if close else _settings_hint(key),
            )


def _settings_hint(key: str) -> str:
    from streamtables.settings import SETTINGS

    return "Settings of a project stand under [settings]." if key in SETTINGS else ""


def table_of(values: Values, key: str, place: str) -> Values:
    """Return a table of a TOML file; an absent one is empty."""
    found = values.get(key, {})
    if isinstance(found, dict):
        return found
    raise ConfigError(f'"{key}" of {place} is not a table', hint=f"Write it as [{key}].")


def text_of(values: Values, key: str, place: str) -> str:
    """Return a text of a TOML file; an absent one is empty."""
    found = values.get(key, "")
    if isinstance(found, str) and "\0" not in found:
        return found
    raise ConfigError(f'"{key}" of {place} is not a text', hint=f'Write {key} = "…".')


def refuse_password(address: str, key: str, place: str) -> None:
    """Refuse an address with a password in it; a reference to one is welcome."""
    if _PASSWORD.search(address):
        raise ConfigError(
            f'"{key}" of {place} holds a password',
            hint="Keep the address in a variable and write a reference: ${env:NAME}.",
        )


def _is_reference(value: object) -> bool:
    return value == "" or (isinstance(value, str) and value.startswith("${"))
