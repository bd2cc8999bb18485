"""The changes of a stream table, and its rows, as bounded batches of visible columns.

What is small is read by deltalake and held in memory; a change that is for Spark is written to a
folder first and read from there, so that no answer is ever held as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa

from streamtables.engine.arrow_types import for_spark, spark_type
from streamtables.engine.change_feed import read_small, read_spark
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.names import RESERVED_PREFIX, WEIGHT
from streamtables.engine.outcomes import NotSmall, TooLarge
from streamtables.engine.small_commit import SmallHandle, first_line
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_times import scan
from streamtables.engine.stores import remove_tree
from streamtables.errors import EnvironmentFaultError, StreamTablesError
from streamtables.positions import Version

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions

BATCH_ROWS = 8_192
"""How many rows a batch has at most."""
_UNREADABLE = "a published table cannot be read"


@dataclass(frozen=True)
class Sight:
    """A stored table at one version: which table it is, and what readers see of it."""

    incarnation: str
    schema: pa.Schema
    """The visible columns."""

    @property
    def weighted(self) -> pa.Schema:
        """The columns of changes: those of the rows, and how many came or went."""
        return self.schema.append(pa.field(WEIGHT, pa.int64()))


def sight(location: str, version: Version) -> Sight:
    """Look at a table at a version, without Spark."""
    with _border():
        handle = SmallHandle.open(location, version)
    fields = [f for f in handle.schema if not f.name.startswith(RESERVED_PREFIX)]
    shown = pa.schema([pa.field(f.name, spark_type(f.type)) for f in fields])
    return Sight(str(handle.table.metadata().id), shown)


def altered_columns(location: str, after: Version, upto: Version) -> bool:
    """Whether readers saw other columns somewhere in (after, upto] than before.

    Raises:
        HistoryGoneError: the log no longer holds one of the versions.
    """
    written = [e.schema_string for e in DeltaLog(location).entries(after, upto) if e.schema_string]
    if not written:
        return False
    before = [(field.name, field.type) for field in sight(location, after).schema]
    now = [(field.name, field.type) for field in sight(location, upto).schema]
    return before != now or len({_shown(text) for text in written}) > 1


def _shown(schema_string: str) -> str:
    fields = json.loads(schema_string)["fields"]
    seen = [(f["name"], f["type"]) for f in fields if not f["name"].startswith(RESERVED_PREFIX)]
    return json.dumps(seen, sort_keys=True)


def rows_in(location: str, version: Version) -> Iterator[pa.RecordBatch]:
    """Give all rows of a table, each with the weight 1; nothing is held."""
    seen = sight(location, version)
    with _border():
        handle = SmallHandle.open(location, version)
        reader = scan(handle.table, seen.schema.names)
        for batch in reader:
            rows = for_spark(pa.Table.from_batches([batch], reader.schema))
            ones = pa.array(np.ones(rows.num_rows, dtype=np.int64))
            yield from _bounded(rows.append_column(WEIGHT, ones), seen.weighted)


def changes_in(
    location: str,
    after: Version,
    upto: Version,
    sessions: SparkSessions,
    *,
    rows_max: int,
    spool: str,
) -> Iterator[pa.RecordBatch]:
    """Give the net changes of the visible columns in (after, upto].

    Raises:
        HistoryGoneError: the log no longer holds one of the versions.
    """
    wanted = sight(location, upto).weighted
    columns = wanted.names[:-1]
    found = read_small(location, after, upto, columns=columns, limit=rows_max)
    if isinstance(found, TooLarge):
        return _spooled(location, after, upto, sessions, columns, wanted, spool)
    if found.num_rows == 0:
        return iter(())
    return _bounded(found, wanted)


def _spooled(
    location: str,
    after: Version,
    upto: Version,
    sessions: SparkSessions,
    columns: Sequence[str],
    wanted: pa.Schema,
    spool: str,
) -> Iterator[pa.RecordBatch]:
    folder = f"{spool}/{uuid4()}"
    try:
        with sessions.lease("bulk", tag="published changes") as spark, spark_border():
            rows = read_spark(spark, location, after, upto, columns)
            rows.write.format("delta").save(folder)
        with _border():
            handle = SmallHandle.open(folder, 0)
            reader = scan(handle.table, handle.schema.names)
            for batch in reader:
                table = pa.Table.from_batches([batch], reader.schema)
                yield from _bounded(for_spark(table), wanted)
    finally:
        with suppress(StreamTablesError, OSError):
            remove_tree(folder)


@contextmanager
def _border() -> Iterator[None]:
    from deltalake.exceptions import DeltaError

    try:
        yield
    except NotSmall as declined:
        raise EnvironmentFaultError(_UNREADABLE, detail=f"{declined.reason}.") from declined
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise EnvironmentFaultError(_UNREADABLE, detail=f"{first_line(error)}.") from error


def _bounded(rows: pa.Table, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    aligned = rows.select(wanted.names).cast(wanted)
    yield from aligned.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
