"""Many keys at once: rows found in one pass over the files, and written by a join.

A list of keys in a predicate is parsed, planned and written key by key: 60 µs for each, and a fault
of the library past 20,000.  A pass and a join take the same for few keys as for many, so they
are the way from some number of keys on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.arrow_types import for_delta
from streamtables.engine.outcomes import Applied
from streamtables.engine.row_pass import Asked, read_any
from streamtables.engine.small_commit import (
    CommitOptions,
    SmallHandle,
    commit_by,
    require_rewritable,
)
from streamtables.engine.sql_text import identifier
from streamtables.errors import TableDamagedError
from streamtables.positions import CommitStamp

if TYPE_CHECKING:
    from deltalake.table import TableMerger

LISTED_MAX = 2_000
"""How many values a predicate lists for reading: as many as a pass over a million rows takes."""
MERGED_FROM = 100
"""From how many keys on a join writes faster than a predicate that lists them."""

_GONE = "__st_gone"


def can_join(keys: pa.Table, columns: Sequence[str]) -> bool:
    """Whether the library's join finds these keys exactly as they are compared here."""
    return bool(columns) and exact_columns(keys, columns) == list(columns)


def exact_columns(rows: pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the columns whose equal values are one value, and have one image."""
    return [name for name in columns if _is_exact(rows.schema.field(name).type)]


def _is_exact(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_integer,
        pa.types.is_string,
        pa.types.is_date32,
        pa.types.is_timestamp,
        pa.types.is_decimal,
        pa.types.is_boolean,
        pa.types.is_binary,
    )
    return any(test(kind) for test in tests)


def read_named(
    handle: SmallHandle, keys: pa.Table, columns: Sequence[str], *, rows_max: int
) -> pa.Table:
    """Return the stored rows whose columns hold values of the keys, each column by itself.

    So it may return other combinations of these values; never fewer rows than the keys name.

    Raises:
        NotSmall: there are more than `rows_max` such rows.
    """
    wanted = {name: pc.unique(keys.column(name)) for name in columns}
    return read_any(handle, [Asked([wanted])], handle.schema.names, rows_max=rows_max)


def commit_merge(
    handle: SmallHandle,
    coming: pa.Table,
    going: pa.Table,
    *,
    key_columns: Sequence[str],
    stamp: CommitStamp,
    change: pa.Table,
) -> Applied:
    """Put rows in the place of those with their key, add the others, and take rows away.

    Every key occurs once, in one of the two, and every key of `going` is stored.

    Raises:
        NotSmall: deltalake cannot write this; nothing has been written.
        TableDamagedError: it wrote something else than was asked for.
        CommitConflictError: another writer committed first.
    """
    require_rewritable(handle)
    rows = pa.concat_tables([for_delta(part, handle.schema) for part in (coming, going)])
    gone = np.arange(rows.num_rows) >= coming.num_rows
    source = rows.append_column(_GONE, pa.array(gone))
    done: dict[str, int] = {}

    def write(options: CommitOptions) -> None:
        merger = _merger(handle, source, key_columns, options)
        done.update(merger.execute())

    applied = commit_by(handle, write, strategy="replace-keys", stamp=stamp, change=change)
    written = done["num_target_rows_updated"] + done["num_target_rows_inserted"]
    if written != coming.num_rows or done["num_target_rows_deleted"] != going.num_rows:
        raise TableDamagedError(
            f'the commit of version {applied.version} to "{handle.location}" is not what was asked',
            detail=f"Of {coming.num_rows} rows {written} were written, and of {going.num_rows} "
            f"rows {done['num_target_rows_deleted']} were removed.",
            hint="Repair the table: streamtables repair.",
        )
    return applied


def _merger(
    handle: SmallHandle, source: pa.Table, key_columns: Sequence[str], options: CommitOptions
) -> TableMerger:
    nulls = {name for name in key_columns if source.column(name).null_count}
    quoted = {name: identifier(name, "datafusion") for name in handle.schema.names}
    flag = f"s.{identifier(_GONE, 'datafusion')}"
    values = {name: f"s.{name}" for name in quoted.values()}
    equal = [
        f"(t.{quoted[name]} {'IS NOT DISTINCT FROM' if name in nulls else '='} s.{quoted[name]})"
        for name in key_columns
    ]
    return (
        handle.table.merge(
            source,
            " AND ".join(equal),
            source_alias="s",
            target_alias="t",
            # Else files are passed over by the bounds of the source's keys, which leave NULL out.
            streamed_exec=bool(nulls),
            **options,
        )
        .when_matched_delete(flag)
        .when_matched_update(values)
        .when_not_matched_insert(values, predicate=f"NOT {flag}")
    )
