"""The sources of a project against those of a warehouse: what is new, what moved, what is stuck."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Capture, FileFolder, StreamTable
from streamtables.positions import InputId
from streamtables.project.record import Record
from streamtables.project.said import Said, differences, said_by_file, said_of_source
from streamtables.project.source_files import SourceFile

if TYPE_CHECKING:
    from streamtables.api import StreamTables


@dataclass(frozen=True)
class SourceStep:
    """One source, and what becomes of it: create, alter, blocked or unchanged."""

    action: str
    source: SourceFile
    details: str = ""


@dataclass(frozen=True)
class Warehouse:
    """What a warehouse holds, asked once."""

    definitions: Definitions
    captures: Mapping[InputId, Capture]
    folders: Mapping[InputId, FileFolder]
    record: Record

    @property
    def tables(self) -> list[StreamTable]:
        """The stream tables that people defined."""
        tables = self.definitions.stream_tables.values()
        return [table for table in tables if not table.is_internal]

    @property
    def sources(self) -> dict[str, tuple[str, Said]]:
        """What is known of each source, by its name in lower case."""
        return {
            source.name.lower(): (
                source.name,
                said_of_source(source, self.captures.get(source.id), self.folders.get(source.id)),
            )
            for source in self.definitions.sources.values()
        }


def source_step(source: SourceFile, there: Warehouse) -> SourceStep:
    """Return what becomes of a source."""
    known = there.sources.get(source.name.lower())
    if known is None:
        return SourceStep("create", source, f"new source: {source.place}")
    changed = _source_changes(source, known[1], there.record)
    if not changed:
        return SourceStep("unchanged", source)
    details = ", ".join(f"{name} {old} → {new}" for name, old, new in changed)
    entry = there.definitions.source(source.name)
    readers = [table.name for table in there.definitions.direct_readers(entry.id)]
    readers += [view.name for view in there.definitions.views.values() if entry.id in view.uses]
    if readers:
        return SourceStep("blocked", source, f"{details}; read by {', '.join(sorted(readers))}")
    return SourceStep("alter", source, details)


def _source_changes(source: SourceFile, stored: Said, record: Record) -> list[tuple[str, str, str]]:
    said = said_by_file(source)
    if source.by_name:
        # Where a name of Spark's catalog leads is not asked for a plan: the last apply tells.
        stored = record.sources.get(source.name.lower(), {**said, "key": stored["key"]})
    elif _same_place(stored["place"], said["place"]):
        stored = {**stored, "place": said["place"]}
    return differences(_as_silent_as(stored, source), said)


def _as_silent_as(stored: Said, source: SourceFile) -> Said:
    """Leave out the format of files where the file of the source leaves it to their names."""
    seen = source.files is not None and not source.format
    return {**stored, "format": ""} if seen and "format" in stored else stored


def _same_place(stored: str, said: str) -> bool:
    if "://" in stored or "://" in said:
        return stored.rstrip("/") == said.rstrip("/")
    return os.path.realpath(stored) == os.path.realpath(said)


def apply_source(db: StreamTables, step: SourceStep) -> None:
    """Add a source, or put it where the file says."""
    source = step.source
    if step.action == "alter":
        db.drop_source(source.name)
    if step.action in ("create", "alter"):
        db.add_source(
            source.name,
            path=source.path,
            table=source.table,
            key=source.key or None,
            enable_change_feed=source.enable_change_feed,
            postgres=source.postgres,
            capture=source.capture,
            types=dict(source.types) or None,
            files=source.files,
            format=source.format or None,
            schema=source.schema or None,
            pattern=source.pattern,
            options=dict(source.options) or None,
        )


def comparable(there: Warehouse, wanted: tuple[SourceFile, ...]) -> dict[str, tuple[str, Said]]:
    """Return the stored sources, each place spelt as the file spells it where they are one."""
    found = dict(there.sources)
    for source in wanted:
        key = source.name.lower()
        last = there.record.sources.get(key, {})
        if key not in found:
            continue
        name, said = found[key]
        for place in (last.get("place", ""), source.place):
            if place and (source.by_name or _same_place(said["place"], place)):
                said = {**said, "place": place}
                break
        found[key] = (name, _as_silent_as(said, source))
    return found
