"""What is said of a stream table or source, as plain texts by name: easy to keep and to compare."""

from __future__ import annotations

from streamtables.catalog.models import Capture, FileFolder, Source, StreamTable
from streamtables.choices import checked_choices
from streamtables.compiler.statements import CreateStreamTable
from streamtables.project.source_files import SourceFile

Said = dict[str, str]


def said_by(statement: CreateStreamTable) -> Said:
    """Return what a statement says, defaults filled in and each value in its one spelling."""
    choices = checked_choices(
        statement.schedule or "manual",
        statement.mode or "auto",
        statement.full or "allow",
        statement.tier or "hot",
        statement.options,
    )
    return {
        "query": statement.query.strip(),
        "schedule": choices.schedule,
        "mode": choices.mode,
        "full": choices.full,
        "tier": choices.tier,
        **{name: str(value) for name, value in (choices.options or {}).items()},
    }


def said_of(table: StreamTable) -> Said:
    """Return the same of a table as the catalog has it."""
    return {
        "query": table.query,
        "schedule": table.schedule,
        "mode": table.mode,
        "full": table.full_policy,
        "tier": table.tier,
        **{name: str(value) for name, value in table.options.items()},
    }


def said_by_file(source: SourceFile) -> Said:
    """Return what the file of a source says."""
    if source.files is not None:
        return _said_of_files(
            source.files, source.format, source.schema, source.pattern, source.options
        )
    return {
        "place": source.place,
        "key": ", ".join(source.key),
        "capture": source.capture if source.postgres is not None else "",
        "types": ", ".join(f"{column}={kind}" for column, kind in sorted(source.types)),
    }


def said_of_source(source: Source, capture: Capture | None, folder: FileFolder | None) -> Said:
    """Return the same of a source as the catalog has it."""
    if folder is not None:
        options = tuple((name, str(value)) for name, value in folder.options.items())
        return _said_of_files(folder.folder, folder.format, folder.schema, folder.pattern, options)
    if capture is None:
        return {
            "place": source.location,
            "key": ", ".join(source.key_columns),
            "capture": "",
            "types": "",
        }
    overrides = sorted((column, str(kind)) for column, kind in capture.overrides.items())
    return {
        "place": f"{capture.table_name} of {capture.server}",
        # The key of a captured table is the server's affair.
        "key": "",
        "capture": capture.wish,
        "types": ", ".join(f"{column}={kind}" for column, kind in overrides),
    }


def _said_of_files(
    folder: str, format: str, schema: str, pattern: str, options: tuple[tuple[str, str], ...]
) -> Said:
    return {
        "place": folder,
        "kind": "files",
        "format": format.lower(),
        "schema": schema.strip(),
        "pattern": pattern,
        "options": ", ".join(f"{name}={value}" for name, value in sorted(options)),
    }


def differences(old: Said, new: Said) -> list[tuple[str, str, str]]:
    """Return what differs: its name, the old text and the new one, `none` for nothing."""
    names = sorted(old.keys() | new.keys())
    pairs = [(name, old.get(name) or "none", new.get(name) or "none") for name in names]
    return [(name, before, after) for name, before, after in pairs if before != after]
