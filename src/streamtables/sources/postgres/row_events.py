"""The tuples of a stream as typed rows that went and came.

A value stored out of line that an update left alone is not sent.  Where the stream has the old row
beside the new one, the value is taken from there; where it has not, the row is marked, and
`row_images` looks further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from streamtables.sources.postgres.pgoutput import Flags, Places, RowChanges, Tuples
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import MirrorColumn, from_text


@dataclass(frozen=True)
class MirrorShape:
    """A table as its mirror has it; without a key the stream has whole old rows."""

    columns: tuple[MirrorColumn, ...]
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The mirror's columns in Arrow."""
        return _schema(self.columns)

    @property
    def old_schema(self) -> pa.Schema:
        """What is known of rows that went."""
        return _schema([c for c in self.columns if not self.key or c.name in self.key])


@dataclass(frozen=True)
class Events:
    """Rows that went and came, typed, in the order of the stream."""

    old: pa.Table
    """The keys of rows that went; whole rows where there is no key."""
    old_at: Places
    """The message that each came with."""
    new: pa.Table
    new_at: Places
    unsent: Mapping[str, Flags]
    """By column, which of the new rows lack their value."""

    def kept(self, spool: Spool) -> Events:
        """Return the same events, their rows where there is room for them."""
        return replace(self, old=spool.keep(self.old), new=spool.keep(self.new))

    def after(self, message: int) -> Events:
        """Return what comes after a message."""
        old = int(np.searchsorted(self.old_at, message))
        new = int(np.searchsorted(self.new_at, message))
        return Events(
            self.old.slice(old),
            self.old_at[old:],
            self.new.slice(new),
            self.new_at[new:],
            {name: flags[new:] for name, flags in self.unsent.items()},
        )


def typed_events(changes: RowChanges, shape: MirrorShape) -> Events:
    """Read the texts of the changes, and complete new rows from the old row beside them."""
    # An old row may be whole although a key would do; then it completes all columns.
    told = [
        (place, column)
        for place, column in enumerate(shape.columns)
        if not shape.key or column.name in shape.key or changes.relation.identity == "f"
    ]
    old = _typed(changes.old, told)
    beside = _beside(changes)
    columns: list[pa.ChunkedArray] = []
    unsent: dict[str, Flags] = {}
    for column, values in zip(shape.columns, changes.new.columns, strict=True):
        typed = pa.chunked_array([from_text(values.text(), column)], column.arrow_type)
        lacking = values.unchanged
        if lacking.any() and column.name in old.column_names:
            typed = filled(typed, old.column(column.name), np.where(lacking, beside, -1))
            lacking = lacking & (beside < 0)
        if lacking.any():
            unsent[column.name] = lacking
        columns.append(typed)
    new = pa.Table.from_arrays(columns, schema=shape.schema)
    old = old.select(shape.old_schema.names)
    return Events(old, changes.old.messages, new, changes.new.messages, unsent)


def joined(parts: Sequence[Events], shape: MirrorShape) -> Events:
    """Return the events of several fetches as one."""
    empty = Events(
        shape.old_schema.empty_table(), _no_places(), shape.schema.empty_table(), _no_places(), {}
    )
    all_of = [empty, *parts]
    lacking = sorted({name for part in parts for name in part.unsent})
    return Events(
        pa.concat_tables([part.old for part in all_of]),
        np.concatenate([part.old_at for part in all_of]),
        pa.concat_tables([part.new for part in all_of]),
        np.concatenate([part.new_at for part in all_of]),
        {name: np.concatenate([_flags(part, name) for part in all_of]) for name in lacking},
    )


def filled(values: pa.ChunkedArray, others: pa.ChunkedArray, places: Places) -> pa.ChunkedArray:
    """Return the values, and where a place is given, the one of `others` that stands there."""
    both = pa.chunked_array([*values.chunks, *others.chunks], values.type)
    chosen = np.where(places < 0, np.arange(len(values)), len(values) + places)
    return both.take(pa.array(chosen))


def _beside(changes: RowChanges) -> Places:
    """Return for each new row which old row came with the same message; −1 for none."""
    old_at, new_at = changes.old.messages, changes.new.messages
    if not len(old_at):
        return np.full(len(new_at), -1, np.int64)
    place = np.minimum(np.searchsorted(old_at, new_at), len(old_at) - 1)
    return np.where(old_at[place] == new_at, place, -1).astype(np.int64)


def _typed(tuples: Tuples, columns: Sequence[tuple[int, MirrorColumn]]) -> pa.Table:
    arrays = [from_text(tuples.columns[place].text(), column) for place, column in columns]
    return pa.Table.from_arrays(arrays, schema=_schema([column for _, column in columns]))


def _flags(part: Events, name: str) -> Flags:
    return part.unsent.get(name, np.zeros(len(part.new_at), np.bool_))


def _schema(columns: Sequence[MirrorColumn]) -> pa.Schema:
    return pa.schema([(column.name, column.arrow_type) for column in columns])


def _no_places() -> Places:
    return np.empty(0, np.int64)
