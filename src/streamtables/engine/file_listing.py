"""Which files a folder holds, here or in a store: their sizes and times, without opening them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from streamtables.engine.stores import local_path, open_store, storage_away
from streamtables.errors import EnvironmentFaultError, SourceMissingError

# What a copy by Hadoop's tools is called until it is whole.
_UNFINISHED = "._COPYING_"


@dataclass(frozen=True)
class FileState:
    """What tells a file from another, or from itself after somebody wrote to it."""

    size: int
    modified_ns: int


def files_in(folder: str, pattern: str = "") -> dict[str, FileState]:
    """Return the files of a folder and of those in it, by their paths inside it, in order.

    Names that begin with a dot or an underscore are not data, as Spark has it; `pattern` is for
    the names of files, not of folders.

    Raises:
        SourceMissingError: there is no such folder.
    """
    path = local_path(folder)
    found = _in_store(folder) if path is None else _on_disk(path)
    return {
        name: state
        for name, state in sorted(found)
        if _is_data(name) and (not pattern or fnmatchcase(name.rpartition("/")[2], pattern))
    }


def _is_data(name: str) -> bool:
    return not any(_is_hidden(part) for part in name.split("/")) and not name.endswith(_UNFINISHED)


def _is_hidden(part: str) -> bool:
    # "_day=3" is the folder of a partition.
    return part.startswith(".") or (part.startswith("_") and "=" not in part)


def _on_disk(root: Path) -> Iterator[tuple[str, FileState]]:
    def stop(error: OSError) -> None:
        raise error

    if not root.is_dir():
        raise _missing(os.fspath(root))
    try:
        for place, folders, names in os.walk(root, onerror=stop):
            folders[:] = [name for name in folders if not _is_hidden(name)]
            inside = os.path.relpath(place, root)
            for name in names:
                path = name if inside == "." else f"{inside}/{name}"
                if (state := _state(os.path.join(place, name))) is not None:
                    yield path, state
    except OSError as error:
        raise EnvironmentFaultError(
            f'the folder "{root}" cannot be read',
            detail=f"The system says: {error.strerror or type(error).__name__}.",
            hint="Give the right to read it, or bring the disk back; it is tried again by itself.",
        ) from error


def _state(path: str) -> FileState | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        # Gone since the folder was listed, or a link to nothing: no file.
        return None
    return FileState(found.st_size, found.st_mtime_ns)


def _in_store(folder: str) -> list[tuple[str, FileState]]:
    from pyarrow import fs

    system, root = open_store(folder)
    try:
        found = system.get_file_info(fs.FileSelector(root, recursive=True))
    except FileNotFoundError as error:
        raise _missing(folder) from error
    except OSError as error:
        raise storage_away(folder, error) from error
    return [
        (info.path[len(root) :].lstrip("/"), FileState(info.size or 0, info.mtime_ns or 0))
        for info in found
        if info.type == fs.FileType.File
    ]


def _missing(folder: str) -> SourceMissingError:
    return SourceMissingError(
        f'there is no folder "{folder}"',
        hint="Give the folder that holds the files; bring it back if it is gone.",
    )
