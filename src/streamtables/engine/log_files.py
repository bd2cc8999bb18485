"""The files of one `_delta_log` folder, on the local disk or behind a URI."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamtables.engine.stores import (
    local_path,
    not_a_location,
    open_store,
    storage_away,
    unreadable,
)

_FOLDER = "_delta_log"


@dataclass(frozen=True)
class FileFacts:
    """What tells one file from another of the same name."""

    size: int
    modified_ns: int
    inode: int = 0

    @property
    def modified_ms(self) -> int:
        """When the file was written, in milliseconds since 1970."""
        return self.modified_ns // 1_000_000


class LogFiles(Protocol):
    """What reading a log needs from a storage."""

    def facts(self, name: str) -> FileFacts | None:
        """Return the facts of a file; None when it is not there."""

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None when it is not there."""

    def names(self) -> Iterable[str]:
        """Return the names of all files."""


def open_log_files(location: str) -> LogFiles:
    """Return the log files of the table at `location`."""
    if "\0" in location:
        raise not_a_location(location, "It has a zero byte")
    path = local_path(location)
    return RemoteLogFiles(location) if path is None else LocalLogFiles(path / _FOLDER)


class LocalLogFiles:
    """A log folder on the local disk: plain calls, a few microseconds each."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.fspath(folder)

    def facts(self, name: str) -> FileFacts | None:
        """Return the facts of a file; None when it is not there."""
        try:
            found = os.stat(f"{self._folder}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self._folder, error) from error
        return FileFacts(found.st_size, found.st_mtime_ns, found.st_ino)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None when it is not there."""
        try:
            with open(f"{self._folder}/{name}", "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self._folder, error) from error

    def names(self) -> Iterable[str]:
        """Return the names of all files."""
        try:
            return os.listdir(self._folder)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise unreadable(self._folder, error) from error


class RemoteLogFiles:
    """A log folder behind a URI, through pyarrow's file systems."""

    def __init__(self, location: str) -> None:
        self._system, root = open_store(location)
        self._folder = f"{root}/{_FOLDER}"
        self._location = location

    def facts(self, name: str) -> FileFacts | None:
        """Return the facts of a file; None when it is not there."""
        from pyarrow import fs

        try:
            info = self._system.get_file_info(f"{self._folder}/{name}")
        except OSError as error:
            raise storage_away(self._location, error) from error
        if info.type == fs.FileType.NotFound:
            return None
        return FileFacts(info.size or 0, info.mtime_ns or 0)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None when it is not there."""
        try:
            with self._system.open_input_stream(f"{self._folder}/{name}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_away(self._location, error) from error

    def names(self) -> Iterable[str]:
        """Return the names of all files."""
        from pyarrow import fs

        selector = fs.FileSelector(self._folder, allow_not_found=True)
        try:
            return [info.base_name for info in self._system.get_file_info(selector)]
        except OSError as error:
            raise storage_away(self._location, error) from error
