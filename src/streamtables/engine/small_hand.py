"""The small hand: bounded changes, read and committed by deltalake, without Spark.

One commit per change, by compare-and-set: the handle stands at the version whose frontier the
change was computed from, and the commit is the next version or fails.

    append         only rows that appear; nothing is read
    replace-keys   the rows that a key predicate covers are read, netted with the change by binary
                   image, and the survivors are written back in their place

Invariant: the rows removed are exactly the rows read, on one version: one predicate text does both,
or, of many keys, a join replaces the rows of the very keys that were looked up (`small_merge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_types import for_delta, for_spark
from streamtables.engine.integrity import damaged, duplicate_key
from streamtables.engine.key_predicate import EVERY_ROW, key_predicate
from streamtables.engine.names import WEIGHT, without_ordinals
from streamtables.engine.outcomes import NOTHING_APPLIED, Applied, NotSmall, Superseded
from streamtables.engine.small_bag import apply_to_bag, with_ordinals
from streamtables.engine.small_commit import (
    ROWS_MAX,
    SmallHandle,
    commit,
    landed_already,
    read_covered,
)
from streamtables.engine.small_merge import (
    LISTED_MAX,
    MERGED_FROM,
    can_join,
    commit_merge,
    read_named,
)
from streamtables.positions import CommitStamp


@dataclass(frozen=True)
class Covered:
    """Stored rows that a predicate covers, with the keys and the predicate they were read by."""

    keys: pa.Table
    predicate: str | None
    """None where a pass over the table found the rows."""
    rows: pa.Table

    @cached_property
    def named(self) -> pa.Table:
        """The rows of the keys alone; the predicate may cover others, which must stay."""
        return arrow_rows.of_groups(self.rows, self.keys, self.keys.column_names)


def read_keys(
    handle: SmallHandle,
    key_columns: tuple[str, ...],
    keys: pa.Table,
    *,
    rows_max: int = ROWS_MAX,
    listed: bool = False,
) -> Covered:
    """Return the stored rows whose key is one of `keys`, and whatever else the predicate covers.

    Many keys are looked up in a pass over the table, unless they have to be `listed`.

    Raises:
        NotSmall: the keys cannot be named in a predicate, or cover more than `rows_max` rows.
    """
    wanted = arrow_rows.distinct(for_spark(keys), key_columns)
    many = wanted.num_rows * len(key_columns) > LISTED_MAX
    if many and not listed and can_join(wanted, key_columns):
        stored = _as_stored(wanted, handle, key_columns)
        return Covered(wanted, None, read_named(handle, stored, key_columns, rows_max=rows_max))
    predicate = key_predicate(_as_stored(wanted, handle, key_columns), key_columns, "datafusion")
    return Covered(wanted, predicate, read_covered(handle, predicate, rows_max=rows_max))


def read_all(handle: SmallHandle, *, rows_max: int) -> pa.Table:
    """Return all stored rows without the ordinals that tell equal ones apart.

    Raises:
        NotSmall: there are more than `rows_max` rows.
    """
    shown = list(without_ordinals(handle.schema.names))
    return read_covered(handle, EVERY_ROW, rows_max=rows_max, columns=shown)


def apply(
    handle: SmallHandle,
    signed: pa.Table,
    *,
    key_columns: tuple[str, ...] | None,
    stamp: CommitStamp,
    covered: Covered | None = None,
    inexact: tuple[str, ...] = (),
) -> Applied | Superseded:
    """Commit a signed change; nothing is written when it nets to nothing.

    Args:
        handle: the table, opened at the version the change was computed from.
        signed: the stored columns and `__st_weight`.
        key_columns: what identifies a row; () for a single row, None for a bag.
        stamp: what rides in the commit.
        covered: rows already read by `read_keys` on the same handle, for at least these keys.
        inexact: columns whose stored value a retraction need not repeat (float aggregates).

    Raises:
        NotSmall: only Spark can do this; nothing has been written.
        TableDamagedError: a row that goes is not stored; nothing has been written.
        CommitConflictError: another writer committed first.
    """
    if (landed := landed_already(handle, stamp)) is not None:
        return landed
    if key_columns is None:
        return apply_to_bag(handle, signed, stamp)
    columns = handle.schema.names
    netted = arrow_rows.net(_typed(signed, handle, columns), columns)
    if netted.num_rows == 0:
        return NOTHING_APPLIED
    appearing, going = arrow_rows.split_by_sign(netted)
    _require_unique(appearing, key_columns)
    rows = arrow_rows.repeated(appearing)
    if going.num_rows == 0 and key_columns:
        return commit(handle, rows, predicate=None, stamp=stamp, change=netted)
    reach = covered if _reaches(covered, netted, key_columns) else None
    if reach is None:
        reach = read_keys(handle, key_columns, netted)
    kept = _survivors(reach.rows, going, tuple(c for c in columns if c not in inexact))
    written = pa.concat_tables([kept, rows])
    _require_unique(written, key_columns)
    if reach.predicate is None or _is_joined(netted, key_columns):
        leaving = _without_keys(going, appearing, key_columns)
        return commit_merge(
            handle, rows, leaving, key_columns=key_columns, stamp=stamp, change=netted
        )
    return commit(handle, written, predicate=reach.predicate, stamp=stamp, change=netted)


def change_of_groups(handle: SmallHandle, covered: Covered, rows: pa.Table) -> pa.Table:
    """Return the signed change that puts rows in the place of the stored ones of some groups.

    `covered` holds the stored rows of the groups, and names them.
    """
    sides = ((rows, 1), (covered.named, -1))
    weighted = (arrow_rows.with_weight(side, weight) for side, weight in sides)
    return pa.concat_tables([arrow_rows.aligned(side, handle.schema) for side in weighted])


def replace_all(
    handle: SmallHandle,
    signed: pa.Table,
    *,
    key_columns: tuple[str, ...] | None,
    stamp: CommitStamp,
) -> Applied | Superseded:
    """Put rows in the place of all stored ones, whatever those are.

    Raises:
        NotSmall: only Spark can do this; nothing has been written.
        TableDamagedError: a row goes that did not come; nothing has been written.
        CommitConflictError: another writer committed first.
    """
    if (landed := landed_already(handle, stamp)) is not None:
        return landed
    columns = without_ordinals(handle.schema.names)
    netted = arrow_rows.net(_typed(signed, handle, columns), columns)
    appearing, going = arrow_rows.split_by_sign(netted)
    if going.num_rows:
        raise damaged(going.num_rows)
    rows = arrow_rows.repeated(appearing)
    if key_columns is None:
        rows = with_ordinals(rows, stamp).select(handle.schema.names)
    else:
        _require_unique(appearing, key_columns)
    return commit(handle, rows, predicate=EVERY_ROW, stamp=stamp, change=netted)


def open_at(location: str, version: int, *, storage: dict[str, str] | None = None) -> SmallHandle:
    """Open a table at one version, for reading and for the commit that follows that version."""
    return SmallHandle.open(location, version, storage=storage)


def _typed(signed: pa.Table, handle: SmallHandle, columns: Sequence[str]) -> pa.Table:
    wanted = pa.schema([*(handle.schema.field(c) for c in columns), pa.field(WEIGHT, pa.int64())])
    return for_delta(for_spark(signed), wanted)


def _as_stored(keys: pa.Table, handle: SmallHandle, columns: Sequence[str]) -> pa.Table:
    return for_delta(keys, pa.schema([handle.schema.field(name) for name in columns]))


def _survivors(stored: pa.Table, going: pa.Table, columns: Sequence[str]) -> pa.Table:
    kept, missing = arrow_rows.subtract(stored, going, columns)
    if missing:
        raise damaged(missing)
    return kept


def _reaches(covered: Covered | None, netted: pa.Table, key_columns: tuple[str, ...]) -> bool:
    """Whether the rows already read are all that the change's keys can touch."""
    if covered is None or covered.predicate == EVERY_ROW:
        return covered is not None
    if not key_columns:
        return False
    wanted = arrow_rows.with_weight(arrow_rows.distinct(netted, key_columns), 1)
    return arrow_rows.matches(covered.keys, wanted, key_columns)[1] == 0


def _is_joined(change: pa.Table, key_columns: tuple[str, ...]) -> bool:
    """Whether a change has so many keys that a join writes it."""
    return change.num_rows >= MERGED_FROM and can_join(change, key_columns)


def _without_keys(going: pa.Table, appearing: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """Return the rows that go whose key does not come again."""
    again = arrow_rows.with_weight(arrow_rows.distinct(appearing, columns), 1)
    found, _ = arrow_rows.matches(going, again, columns)
    return arrow_rows.without_rows(going, found).drop_columns([WEIGHT])


def _require_unique(rows: pa.Table, key_columns: tuple[str, ...]) -> None:
    heavy = WEIGHT in rows.column_names and pc.any(pc.greater(rows.column(WEIGHT), 1)).as_py()
    if heavy or arrow_rows.has_duplicates(rows, key_columns):
        raise duplicate_key(key_columns)


__all__ = [
    "Covered",
    "NotSmall",
    "SmallHandle",
    "apply",
    "change_of_groups",
    "open_at",
    "read_all",
    "read_keys",
    "replace_all",
]
