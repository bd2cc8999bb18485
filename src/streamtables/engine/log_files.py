"""The files of one `_delta_log` folder, on the local disk or behind a URI."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlparse

from streamtables.errors import EnvironmentFaultError, SourceUnusableError, TransientError

if TYPE_CHECKING:
    from pyarrow import fs

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


def local_path(location: str | os.PathLike[str]) -> Path | None:
    """Return the path of a local location; None for one behind another scheme."""
    text = os.fspath(location)
    parsed = urlparse(text)
    if parsed.scheme == "file":
        return Path(unquote(parsed.path))
    # A one-letter scheme is a drive letter.
    return Path(text) if len(parsed.scheme) <= 1 else None


def open_log_files(location: str) -> LogFiles:
    """Return the log files of the table at `location`."""
    if "\0" in location:
        raise _not_a_location(location, "It has a zero byte")
    path = local_path(location)
    return RemoteLogFiles(location) if path is None else LocalLogFiles(path / _FOLDER)


def _not_a_location(location: str, reason: str) -> SourceUnusableError:
    # An address may hold a key; of one that cannot be read only the kind is told.
    kind = location.partition("://")[0] if "://" in location else "path"
    return SourceUnusableError(
        f'a location of the kind "{kind[:20]}" cannot be opened',
        detail=f"{reason}.",
        hint="Give a folder, or the URI of a storage such as s3://bucket/folder.",
    )


def _unreadable(folder: str, error: OSError) -> EnvironmentFaultError:
    """Return what it means that the machine cannot read a log on its own disk."""
    return EnvironmentFaultError(
        f'the log in "{folder}" cannot be read',
        detail=f"The system says: {error.strerror or type(error).__name__}.",
        hint="Give the right to read it, or bring the disk back; it is tried again by itself.",
    )


def _storage_away(location: str, error: OSError) -> TransientError:
    """Return what it means that a storage gives no answer, or refuses one."""
    address = urlparse(location)
    # Before the host and after the path of an address there may be keys.
    place = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
    return TransientError(
        f'the log of "{place}" cannot be read',
        detail=f"{type(error).__name__}: the storage gave no answer, or refused one.",
        hint="See that it can be reached, and that it may be read; it is tried again by itself.",
    )


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
            raise _unreadable(self._folder, error) from error
        return FileFacts(found.st_size, found.st_mtime_ns, found.st_ino)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None when it is not there."""
        try:
            with open(f"{self._folder}/{name}", "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(self._folder, error) from error

    def names(self) -> Iterable[str]:
        """Return the names of all files."""
        try:
            return os.listdir(self._folder)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise _unreadable(self._folder, error) from error


class RemoteLogFiles:
    """A log folder behind a URI, through pyarrow's file systems."""

    def __init__(self, location: str) -> None:
        from pyarrow import fs

        self._system: fs.FileSystem
        try:
            self._system, root = fs.FileSystem.from_uri(location)
        except ValueError as error:
            raise _not_a_location(
                location, "No storage is known that has such addresses"
            ) from error
        except OSError as error:
            raise _storage_away(location, error) from error
        self._folder = f"{root.rstrip('/')}/{_FOLDER}"
        self._location = location

    def facts(self, name: str) -> FileFacts | None:
        """Return the facts of a file; None when it is not there."""
        from pyarrow import fs

        try:
            info = self._system.get_file_info(f"{self._folder}/{name}")
        except OSError as error:
            raise _storage_away(self._location, error) from error
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
            raise _storage_away(self._location, error) from error

    def names(self) -> Iterable[str]:
        """Return the names of all files."""
        from pyarrow import fs

        selector = fs.FileSelector(self._folder, allow_not_found=True)
        try:
            return [info.base_name for info in self._system.get_file_info(selector)]
        except OSError as error:
            raise _storage_away(self._location, error) from error
