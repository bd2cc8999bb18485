"""What was applied last, kept in the warehouse: it tells changes of files from those by hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from streamtables.catalog.database import FOLDER_NAME
from streamtables.errors import ConfigError
from streamtables.project.said import Said

FILE_NAME = "project.json"


@dataclass
class Record:
    """What each object was when the project was last applied, by its name in lower case."""

    project: str = ""
    environment: str = ""
    tables: dict[str, Said] = field(default_factory=dict)
    sources: dict[str, Said] = field(default_factory=dict)

    def refuse_another(self, project: str, environment: str, warehouse: Path) -> None:
        """Refuse to go on where another project or environment was applied."""
        last = (self.project, self.environment)
        if self.project and last != (project, environment):
            raise ConfigError(
                f'the warehouse "{warehouse}" belongs to environment "{self.environment}" of '
                f'project "{self.project}", not to "{environment}" of "{project}"',
                hint=f"Give each a warehouse of its own; or remove {path_in(warehouse)}.",
            )


def path_in(warehouse: Path) -> Path:
    """Return where the record of a warehouse is."""
    return warehouse / FOLDER_NAME / FILE_NAME


def read_record(warehouse: Path) -> Record:
    """Return the record of a warehouse; an empty one before the first apply."""
    path = path_in(warehouse)
    if not path.is_file():
        return Record()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        record = Record(**found)
        tables = [*record.tables.values(), *record.sources.values()]
        whole = all(isinstance(text, str) for said in tables for text in said.values())
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unreadable(path, str(error)) from error
    if not whole:
        raise _unreadable(path, "what it holds is not text")
    return record


def write_record(warehouse: Path, record: Record) -> None:
    """Keep a record: whole, or as it was."""
    path = path_in(warehouse)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}.new")
    new.write_text(json.dumps(vars(record), indent=2, ensure_ascii=False) + "\n", "utf-8")
    new.replace(path)


def _unreadable(path: Path, reason: str) -> ConfigError:
    return ConfigError(
        f'cannot read "{path}"',
        detail=f"It tells what was applied last: {reason}.",
        hint="Remove it; the next plan then shows what differs, without saying who changed it.",
    )
