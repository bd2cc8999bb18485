"""What was applied last, kept in the warehouse: it tells changes of files from those by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from streamtables.catalog.database import FOLDER_NAME
from streamtables.engine.stores import read_file, write_file
from streamtables.engine.warehouses import Warehouse
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

    def refuse_another(self, project: str, environment: str, warehouse: Warehouse) -> None:
        """Refuse to go on where another project or environment was applied."""
        last = (self.project, self.environment)
        if self.project and last != (project, environment):
            raise ConfigError(
                f'the warehouse "{warehouse.shown}" belongs to environment "{self.environment}" of '
                f'project "{self.project}", not to "{environment}" of "{project}"',
                hint=f"Give each a warehouse of its own; or remove {place_in(warehouse)}.",
            )


def place_in(warehouse: Warehouse) -> str:
    """Return where the record of a warehouse is."""
    return warehouse.inside(FOLDER_NAME, FILE_NAME)


def read_record(warehouse: Warehouse) -> Record:
    """Return the record of a warehouse; an empty one before the first apply."""
    place = place_in(warehouse)
    try:
        data = read_file(place)
        if data is None:
            return Record()
        found = json.loads(data)
        record = Record(**found)
        tables = [*record.tables.values(), *record.sources.values()]
        whole = all(isinstance(text, str) for said in tables for text in said.values())
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unreadable(place, str(error)) from error
    if not whole:
        raise _unreadable(place, "what it holds is not text")
    return record


def write_record(warehouse: Warehouse, record: Record) -> None:
    """Keep a record: whole, or as it was."""
    text = json.dumps(vars(record), indent=2, ensure_ascii=False) + "\n"
    write_file(place_in(warehouse), text.encode())


def _unreadable(place: str, reason: str) -> ConfigError:
    return ConfigError(
        f'cannot read "{place}"',
        detail=f"It tells what was applied last: {reason}.",
        hint="Remove it; the next plan then shows what differs, without saying who changed it.",
    )
