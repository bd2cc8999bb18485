"""The last row of each key in a drain, with the values that the stream did not repeat.

Let e be a change that leads to a row, b(e) the key that this row had before it and k(e) the key
that it has after it.  The row before e in this drain is

    p(e) = the last change e' before e with k(e') = b(e)

since a key names one row at a time.  A value that e does not send is that of p(e), and so on back;
following all chains at once, each step doubles how far they reach.  A chain without p ends in the
mirror, under b of its first change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamtables.engine.arrow_image import row_codes
from streamtables.sources.postgres.pgoutput import Flags, Places
from streamtables.sources.postgres.row_events import Events
from streamtables.sources.postgres.spool import Spool


@dataclass(frozen=True)
class Unsent:
    """Values of one column that only the mirror has."""

    rows: Places
    """Which of the captured rows lack the value."""
    keys: pa.Table
    """The key under which the mirror stores the row of each."""


@dataclass(frozen=True)
class Images:
    """What became of the keys that a drain touched."""

    keys: pa.Table
    """Each of them once."""
    rows: pa.Table
    """The row of each that exists at the end."""
    unsent: Mapping[str, Unsent]


def last_images(events: Events, key: Sequence[str], spool: Spool) -> Images:
    """Return what the keys lead to when the changes are done in their order."""
    names = list(key)
    stacked = pa.concat_tables([events.new.select(names), events.old.select(names)])
    codes = row_codes(stacked, names)
    after, gone = codes[: events.new.num_rows], codes[events.new.num_rows :]
    before, leaves = _keys_before(events, after, gone)
    firsts = np.unique(codes, return_index=True)[1]
    last = _last_rows(events, after, gone[leaves], events.old_at[leaves])
    rows = spool.taken(events.new, last)
    unsent: dict[str, Unsent] = {}
    earlier = _earlier(before, after) if events.unsent else after
    for name, lacking in events.unsent.items():
        source = _followed(lacking, earlier)[last]
        place = rows.column_names.index(name)
        rows = rows.set_column(
            place, rows.field(place), events.new.column(name).take(pa.array(source))
        )
        stored = np.flatnonzero(lacking[source])
        if len(stored):
            under = stacked.take(pa.array(firsts[before[source[stored]]]))
            unsent[name] = Unsent(stored, under)
    return Images(spool.taken(stacked, np.sort(firsts)), rows, unsent)


def _keys_before(events: Events, after: Places, gone: Places) -> tuple[Places, Flags]:
    """Return b(e) of each new row, and which old rows left their key for good or for another."""
    before = after.copy()
    leaves = np.ones(len(gone), np.bool_)
    if len(after):
        place = np.minimum(np.searchsorted(events.new_at, events.old_at), len(after) - 1)
        together = events.new_at[place] == events.old_at
        before[place[together]] = gone[together]
        leaves = ~together | (after[place] != gone)
    return before, leaves


def _last_rows(events: Events, after: Places, gone: Places, gone_at: Places) -> Places:
    """Return which new rows are the last of their key and were not left since."""
    count = int(max(after.max(initial=-1), gone.max(initial=-1))) + 1
    came = np.full(count, -1, np.int64)
    np.maximum.at(came, after, np.arange(len(after)))
    left_at = np.full(count, -1, np.int64)
    np.maximum.at(left_at, gone, gone_at)
    last = came[came >= 0]
    return np.sort(last[events.new_at[last] > left_at[after[last]]])


def _earlier(before: Places, after: Places) -> Places:
    """Return p(e) of each new row; −1 where the mirror has it."""
    count = len(after)
    numbers = np.arange(count)
    by_key = np.sort(after * count + numbers)
    place = np.searchsorted(by_key, before * count + numbers) - 1
    found = by_key[np.maximum(place, 0)]
    return np.where((place >= 0) & (found // count == before), found % count, -1)


def _followed(lacking: Flags, earlier: Places) -> Places:
    """Return for each new row the one that has its value, or the first of the chain if none has."""
    source = np.where(lacking & (earlier >= 0), earlier, np.arange(len(lacking)))
    while not np.array_equal(further := source[source], source):
        source = further
    return source
