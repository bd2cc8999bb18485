"""What one drain says about one table, and what that does to the mirror.

no key     whole rows with a sign: −1 for the row that went, +1 for the row that came
a key      the keys that were touched, and the last row of each key that still exists
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from streamtables.engine.arrow_image import row_codes
from streamtables.engine.arrow_rows import net, with_weight
from streamtables.engine.mirror_merge import LACKS, UNDER
from streamtables.engine.names import WEIGHT
from streamtables.errors import TableDamagedError
from streamtables.sources.postgres.pgoutput import Places, RowChanges
from streamtables.sources.postgres.reshaped import what_changed
from streamtables.sources.postgres.row_events import (
    Events,
    MirrorShape,
    filled,
    joined,
    typed_events,
)
from streamtables.sources.postgres.row_images import Unsent, last_images
from streamtables.sources.postgres.spool import Spool


@dataclass(frozen=True)
class Captured:
    """What one drain says about one table."""

    rows: pa.Table
    """The mirror's columns and the weight."""
    cleared: bool = False
    """Whether the table was truncated; then nothing that the mirror has counts."""
    replaced: pa.Table | None = None
    """The keys that were touched: what the mirror has under them goes.  None without a key."""
    unsent: Mapping[str, Unsent] = field(default_factory=dict)
    """By column, the values that only the mirror has."""
    changed: frozenset[str] | None = None
    """The columns that the writers say were changed; None is all, or that they do not say."""
    reshaped: str = ""
    """How the table stopped being what the mirror expects; changes from there on are left out."""

    @property
    def empty(self) -> bool:
        """Whether nothing happened to the table."""
        touched = self.rows.num_rows or (self.replaced is not None and self.replaced.num_rows)
        return not (touched or self.cleared or self.reshaped)


class Gathering:
    """The changes of one table, fetch by fetch."""

    def __init__(self, shape: MirrorShape, spool: Spool) -> None:
        self._shape = shape
        self._spool = spool
        self._events: list[Events] = []
        self._cleared = False
        self._reshaped = ""

    def add(self, changes: Iterable[RowChanges], truncated_at: Sequence[int] = ()) -> None:
        """Take the next fetch's changes of the table, and the messages that truncated it."""
        events: list[Events] = []
        ends = None
        for part in changes:
            if self._reshaped:
                break
            self._reshaped = what_changed(part.relation, self._shape.columns, self._shape.key)
            if self._reshaped:
                ends = _first_message(part)
            else:
                events.append(typed_events(part, self._shape))
        cuts = [at for at in truncated_at if ends is None or at < ends]
        if cuts and (ends is not None or not self._reshaped):
            # Everything before a truncation is void.
            self._cleared = True
            self._events.clear()
            events = [part.after(max(cuts)) for part in events]
        self._events += (part.kept(self._spool) for part in events)

    def captured(self) -> Captured:
        """Return what all fetches together say."""
        events = joined(self._events, self._shape)
        if not self._shape.key:
            rows = pa.concat_tables([with_weight(events.old, -1), with_weight(events.new, 1)])
            return Captured(rows, self._cleared, reshaped=self._reshaped)
        images = last_images(events, self._shape.key, self._spool)
        return Captured(
            with_weight(images.rows, 1),
            self._cleared,
            images.keys,
            images.unsent,
            reshaped=self._reshaped,
        )


def complete(captured: Captured, stored: pa.Table, key: tuple[str, ...]) -> pa.Table:
    """Return the signed rows by which the mirror changes.

    `stored` has the mirror's rows under the keys in `captured.replaced`; all of its rows when the
    table was cleared; none of them when there is no key.

    Raises:
        TableDamagedError: the mirror lacks a row that the server changed.
    """
    final = captured.rows
    stored = stored.select([name for name in final.column_names if name != WEIGHT])
    stored = stored.cast(final.drop_columns([WEIGHT]).schema)
    for name, unsent in captured.unsent.items():
        places = np.full(final.num_rows, -1, np.int64)
        places[unsent.rows] = _places_of(unsent.keys, stored, key)
        place = final.column_names.index(name)
        values = filled(final.column(name), stored.column(name), places)
        final = final.set_column(place, final.field(place), values)
    return net(pa.concat_tables([final, with_weight(stored, -1)]), stored.column_names)


def with_marks(captured: Captured) -> pa.Table:
    """Return the captured rows, and beside them where the mirror has the values that they lack.

    A row that lacks several values lacks them all from one row of the mirror: the first of its
    chain of changes.
    """
    rows = captured.rows
    if not captured.unsent:
        return rows
    under = np.full(rows.num_rows, -1, np.int64)
    start = 0
    for name, unsent in captured.unsent.items():
        lacks = np.zeros(rows.num_rows, np.bool_)
        lacks[unsent.rows] = True
        rows = rows.append_column(f"{LACKS}{name}", pa.array(lacks))
        under[unsent.rows] = np.arange(start, start + len(unsent.rows))
        start += len(unsent.rows)
    keys = pa.concat_tables([unsent.keys for unsent in captured.unsent.values()])
    places = pa.array(under, mask=under < 0)
    for name in keys.column_names:
        rows = rows.append_column(f"{UNDER}{name}", keys.column(name).take(places))
    return rows


def _places_of(keys: pa.Table, stored: pa.Table, key: tuple[str, ...]) -> Places:
    """Return which stored row each key names."""
    names = list(key)
    codes = row_codes(pa.concat_tables([stored.select(names), keys.select(names)]), names)
    rows = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    rows[codes[: stored.num_rows]] = np.arange(stored.num_rows)
    found: Places = rows[codes[stored.num_rows :]]
    if (found < 0).any():
        raise TableDamagedError(
            "the mirror lacks rows that were changed on the PostgreSQL server",
            detail=f"{int((found < 0).sum())} of them have values that only the mirror had.",
        )
    return found


def _first_message(changes: RowChanges) -> int:
    return int(min(at[0] for at in (changes.old.messages, changes.new.messages) if len(at)))
