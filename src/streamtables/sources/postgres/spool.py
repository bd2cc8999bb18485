"""Rows of one drain that are too many for memory, kept in files until it ends.

A table that no longer fits is written to a file and given back as a view of that file: the system
reads what is looked at, and may forget it again.  So whoever holds rows need not know where they
are.

A process that dies leaves its folder behind; its number is in the name, and a later drain of the
same user removes it.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

MEMORY_BYTES = 32 << 20
"""How much of the rows of one drain stays in memory."""

_PREFIX = "streamtables-drain-"
_NAME = re.compile(rf"^{_PREFIX}(\d+)-")
# Processes of another machine or container, whose numbers say nothing here, may share the folder.
_LEFT_FOR_SECONDS = 3_600.0
_GROUP_ROWS = 100_000


class Spool:
    """Where the rows of one drain are; used once, and emptied at its end."""

    def __init__(self, memory_bytes: int | None = None) -> None:
        self._left = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._folder: Path | None = None
        self._files = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)

    @property
    def files(self) -> int:
        """How many tables had to be written to files."""
        return self._files

    def keep(self, rows: pa.Table) -> pa.Table:
        """Return the same rows, which stay in memory only while there is room."""
        if rows.num_rows == 0:
            return rows
        # A part of a larger table keeps all of it in memory, but counts with its own size.
        if rows.nbytes <= self._left:
            self._left -= rows.nbytes
            return rows
        return self._written(rows)

    def taken(self, rows: pa.Table, places: npt.NDArray[np.int64]) -> pa.Table:
        """Return some of the rows, in their order; `places` rise."""
        parts = [rows.schema.empty_table()]
        start = 0
        for batch in rows.to_batches(max_chunksize=_GROUP_ROWS):
            first, last = np.searchsorted(places, (start, start + batch.num_rows))
            if last > first:
                part = batch.take(pa.array(places[first:last] - start))
                parts.append(self.keep(pa.Table.from_batches([part])))
            start += batch.num_rows
        return pa.concat_tables(parts)

    def _written(self, rows: pa.Table) -> pa.Table:
        if self._folder is None:
            remove_left_behind()
            self._folder = new_folder()
        path = self._folder / f"{self._files}.arrow"
        self._files += 1
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


@contextmanager
def as_parquet(rows: pa.Table | None) -> Iterator[Path | None]:
    """Give a folder with the rows for Spark, and remove it at the end."""
    if rows is None:
        yield None
        return
    folder = new_folder()
    try:
        pq.write_table(rows, folder / "rows.parquet", row_group_size=_GROUP_ROWS)
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def new_folder() -> Path:
    """Make a folder of this process in the system's folder for temporary files."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def remove_left_behind() -> None:
    """Remove the folders of our processes that died a while ago."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_left_behind(folder):
            rmtree(folder, ignore_errors=True)


def _is_left_behind(folder: Path) -> bool:
    named = _NAME.match(folder.name)
    try:
        found = folder.lstat()
    except OSError:
        return False
    if named is None or found.st_uid != os.geteuid():
        return False
    return time.time() - found.st_mtime > _LEFT_FOR_SECONDS and not _runs(int(named[1]))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
