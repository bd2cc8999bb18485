"""The shape of a captured table, and which differences the captured changes do not explain.

A drain compares the shape with the one of the last copy, in the transaction that it reads in.  A
TRUNCATE gives the table a new file and is captured; any other new file is a rewrite, whose rows
nobody captured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamtables.sources.postgres.facts import PgTable


@dataclass(frozen=True)
class Shape:
    """What has to stay as it is for captured changes to be the whole story."""

    columns: tuple[tuple[str, str, bool], ...]
    """Name, type as a person writes it, and whether the server computes it."""
    key: tuple[str, ...]
    identity: str
    files: tuple[tuple[int, int], ...]
    """Of the table and of each partition: its oid and its file."""

    @classmethod
    def of(cls, table: PgTable) -> Shape:
        """Return the shape of a table as the server describes it."""
        return cls(
            tuple((c.name, c.type.shown, c.generated) for c in table.columns),
            table.primary_key,
            table.identity,
            ((table.oid, table.filenode), *((p.oid, p.filenode) for p in table.partitions)),
        )

    def with_files(self, files: Mapping[int, int]) -> Shape:
        """Return the shape with the files that the same tables have at another moment."""
        return replace(self, files=tuple((oid, files.get(oid, file)) for oid, file in self.files))

    def to_json(self) -> str:
        """Return the text that the catalog keeps."""
        return json.dumps(
            {
                "columns": self.columns,
                "key": self.key,
                "identity": self.identity,
                "files": self.files,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Shape:
        """Read what `to_json` wrote."""
        data = json.loads(text)
        return cls(
            tuple((name, kind, bool(generated)) for name, kind, generated in data["columns"]),
            tuple(data["key"]),
            data["identity"],
            tuple((oid, file) for oid, file in data["files"]),
        )


def unexplained(known: Shape, now: Shape, *, truncated: bool) -> str | None:
    """Say which difference the captured changes do not explain; None when they explain all."""
    if text := _column_difference(known, now):
        return text
    if known.key != now.key:
        return f"its primary key is ({', '.join(now.key)}) now"
    before, after = dict(known.files), dict(now.files)
    if gone := before.keys() - after.keys():
        return f"{len(gone)} of its partitions are gone or detached"
    if new := after.keys() - before.keys():
        return f"{len(new)} partitions were added or attached"
    moved = [oid for oid, file in after.items() if before[oid] != file]
    return "its rows were rewritten by an ALTER or VACUUM FULL" if moved and not truncated else None


def _column_difference(known: Shape, now: Shape) -> str | None:
    before = {name: kind for name, kind, _ in known.columns}
    after = {name: kind for name, kind, _ in now.columns}
    for name, kind in before.items():
        if name not in after:
            return f'its column "{name}" was dropped or renamed'
        if after[name] != kind:
            return f'its column "{name}" changed from {kind} to {after[name]}'
    for name in after:
        if name not in before:
            return f'its column "{name}" is new'
    return None if known.columns == now.columns else "its columns changed"
