"""The shape of a captured table, and which differences the captured changes do not explain.

A drain compares the shape with the one of the last drain, in the transaction that it reads in.  A
TRUNCATE gives the table a new file and is captured; any other new file is a rewrite, whose rows
nobody captured.  A rewrite that changes values also writes the columns anew in the catalog, so it
is noticed after a TRUNCATE, too.

What looks the same may have been another thing meanwhile: a column that was dropped and made again
has another number, a partition that was detached and attached again is written down anew.
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
    numbers: tuple[int, ...] | None = None
    """Of each column; like all below, None in what releases stored that did not know of it."""
    attached: tuple[tuple[int, int], ...] | None = None
    """Of each partition: its oid and what its attachment is known by."""
    wordings: tuple[tuple[int, int], ...] | None = None
    """Of the table and of each partition: its oid and what its columns in the catalog are known
    by.  It differs after harmless changes as well, so alone it says nothing."""
    parents: tuple[int, ...] | None = None
    """What the table is a part of."""

    @classmethod
    def of(cls, table: PgTable) -> Shape:
        """Return the shape of a table as the server describes it."""
        return cls(
            tuple((c.name, c.type.shown, c.generated) for c in table.columns),
            table.primary_key,
            table.identity,
            ((table.oid, table.filenode), *((p.oid, p.filenode) for p in table.partitions)),
            tuple(c.number for c in table.columns),
            tuple((p.oid, p.attached) for p in table.partitions),
            ((table.oid, table.wording), *((p.oid, p.wording) for p in table.partitions)),
            table.parents,
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
                "numbers": self.numbers,
                "attached": self.attached,
                "wordings": self.wordings,
                "parents": self.parents,
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
            tuple(data["numbers"]) if data.get("numbers") is not None else None,
            _pairs(data.get("attached")),
            _pairs(data.get("wordings")),
            tuple(data["parents"]) if data.get("parents") is not None else None,
        )


def unexplained(known: Shape, now: Shape, *, truncated: bool) -> str | None:
    """Say which difference the captured changes do not explain; None when they explain all.

    `truncated` says that the whole table was, so that files are other ones.
    """
    if text := _column_difference(known, now):
        return text
    if known.key != now.key:
        return f"its primary key is ({', '.join(now.key)}) now"
    if known.parents is not None and known.parents != now.parents:
        return "it became a part of another table, or is one no longer"
    before, after = dict(known.files), dict(now.files)
    if gone := before.keys() - after.keys():
        return f"{len(gone)} of its partitions are gone or detached"
    if new := after.keys() - before.keys():
        return f"{len(new)} partitions were added or attached"
    if known.attached is not None and known.attached != now.attached:
        return "a partition was detached and attached again"
    if all(before[oid] == file for oid, file in after.items()):
        return None
    if truncated and (known.wordings is None or known.wordings == now.wordings):
        return None
    what = "its rows were rewritten by an ALTER or VACUUM FULL"
    return f"{what}, or a partition was truncated" if known.attached else what


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
    if known.columns != now.columns:
        return "its columns changed"
    if known.numbers is not None:
        for (name, _, _), number, found in zip(
            now.columns, known.numbers, now.numbers or (), strict=True
        ):
            if number != found:
                return f'its column "{name}" was dropped and made again'
    return None


def _pairs(found: list[tuple[int, int]] | None) -> tuple[tuple[int, int], ...] | None:
    return None if found is None else tuple((oid, number) for oid, number in found)
