"""The rows of data files that stand in a table's folder, before any commit names them.

A task of Spark writes its file where the table is, and its row count comes last, when the file is
whole.  So the count grows by the rows of a task at a time, and what is being written does not show.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from streamtables.engine.stores import local_path, open_store
from streamtables.errors import StreamTablesError

if TYPE_CHECKING:
    from pyarrow import fs


class LandedRows:
    """Counts the rows of a folder; each file is opened until it is whole, and once then."""

    def __init__(self, location: str) -> None:
        self._folder = _opened(location)
        self._rows: dict[str, int] = {}

    def count(self) -> int | None:
        """Return how many rows have landed; None where the storage does not let itself be seen."""
        if self._folder is None:
            return None
        system, root = self._folder
        try:
            for path in _data_files(system, root):
                if path not in self._rows and (rows := _rows_of(system, path)) is not None:
                    self._rows[path] = rows
        except OSError:
            return None
        return sum(self._rows.values())


def _opened(location: str) -> tuple[fs.FileSystem, str] | None:
    from pyarrow import fs

    path = local_path(location)
    if path is not None:
        return fs.LocalFileSystem(), str(path)
    try:
        return open_store(location)
    except StreamTablesError:
        return None


def _data_files(system: fs.FileSystem, root: str) -> list[str]:
    from pyarrow import fs

    found = system.get_file_info(fs.FileSelector(root, allow_not_found=True))
    return [info.path for info in found if _is_data(info.path)]


def _is_data(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def _rows_of(system: fs.FileSystem, path: str) -> int | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return int(parquet.read_metadata(path, filesystem=system).num_rows)
    except (pa.ArrowInvalid, FileNotFoundError):
        # It is still being written, or its task was given up.
        return None
