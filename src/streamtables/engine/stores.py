"""Files of a folder of this machine, or of a store behind a URI such as s3://bucket/folder.

pyarrow reaches the stores, with the credentials and addresses that the environment names, as
deltalake does: AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and so on.
"""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from streamtables.errors import EnvironmentFaultError, SourceUnusableError, TransientError

if TYPE_CHECKING:
    from pyarrow import fs

# Hadoop's name for what everybody else calls s3.
_SCHEMES = {"s3a": "s3", "s3n": "s3"}


def local_path(location: str | os.PathLike[str]) -> Path | None:
    """Return the path of a local location; None for one behind another scheme."""
    text = os.fspath(location)
    parsed = urlparse(text)
    if parsed.scheme == "file":
        return Path(unquote(parsed.path))
    # A one-letter scheme is a drive letter.
    return Path(text) if len(parsed.scheme) <= 1 else None


def open_store(location: str) -> tuple[fs.FileSystem, str]:
    """Return the store of a URI, and the path inside it; a store is opened once.

    Raises:
        SourceUnusableError: no store has such addresses.
        TransientError: the store gives no answer.
    """
    scheme, _, rest = location.partition("://")
    rest, asks, options = rest.partition("?")
    bucket, _, path = rest.partition("/")
    try:
        system, root = _opened(f"{_SCHEMES.get(scheme, scheme)}://{bucket}/{asks}{options}")
    except ValueError as error:
        raise not_a_location(location, "No storage is known that has such addresses") from error
    except OSError as error:
        raise storage_away(location, error) from error
    return system, f"{root.rstrip('/')}/{path}".rstrip("/")


@lru_cache(maxsize=64)
def _opened(address: str) -> tuple[fs.FileSystem, str]:
    from pyarrow import fs

    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(address)
    return found


def read_file(location: str) -> bytes | None:
    """Return the bytes of a file; None when it is not there."""
    path = local_path(location)
    try:
        if path is not None:
            return path.read_bytes()
        system, inside = open_store(location)
        with system.open_input_stream(inside) as stream:
            return bytes(stream.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        if path is not None:
            raise
        raise storage_away(location, error) from error


def write_file(location: str, data: bytes) -> None:
    """Put a file in the place of what is there: whole, or as it was."""
    path = local_path(location)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}.new")
        new.write_bytes(data)
        new.replace(path)
        return
    system, inside = open_store(location)
    try:
        # An object shows up once it is whole.
        with system.open_output_stream(inside) as stream:
            stream.write(data)
    except OSError as error:
        raise storage_away(location, error) from error


def remove_file(location: str) -> None:
    """Delete a file; one that is not there is gone."""
    path = local_path(location)
    if path is not None:
        path.unlink(missing_ok=True)
        return
    system, inside = open_store(location)
    try:
        system.delete_file(inside)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_away(location, error) from error


def folders_in(location: str) -> list[str]:
    """Return the names of the folders in a place, in their order; none where there is no place."""
    from pyarrow import fs

    path = local_path(location)
    if path is not None:
        return (
            sorted(item.name for item in path.iterdir() if item.is_dir()) if path.is_dir() else []
        )
    system, inside = open_store(location)
    try:
        found = system.get_file_info(fs.FileSelector(inside, allow_not_found=True))
    except OSError as error:
        raise storage_away(location, error) from error
    return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)


def remove_tree(location: str) -> bool:
    """Delete a folder and all that is in it; return whether there was one.

    Raises:
        TransientError: the store gives no answer, or does not allow it.
    """
    path = local_path(location)
    if path is not None:
        there = path.is_dir()
        if there:
            shutil.rmtree(path)
        return there
    from pyarrow import fs

    system, inside = open_store(location)
    try:
        there = bool(system.get_file_info(fs.FileSelector(inside, allow_not_found=True)))
        if there:
            system.delete_dir(inside)
    except OSError as error:
        raise storage_away(location, error) from error
    return there


def not_a_location(location: str, reason: str) -> SourceUnusableError:
    """Return the error for a location that names no place."""
    # An address may hold a key; of one that cannot be read only the kind is told.
    kind = location.partition("://")[0] if "://" in location else "path"
    return SourceUnusableError(
        f'a location of the kind "{kind[:20]}" cannot be opened',
        detail=f"{reason}.",
        hint="Give a folder, or the URI of a storage such as s3://bucket/folder.",
    )


def unreadable(folder: str, error: OSError) -> EnvironmentFaultError:
    """Return what it means that the machine cannot read a log on its own disk."""
    return EnvironmentFaultError(
        f'the log in "{folder}" cannot be read',
        detail=f"The system says: {error.strerror or type(error).__name__}.",
        hint="Give the right to read it, or bring the disk back; it is tried again by itself.",
    )


def storage_away(location: str, error: OSError) -> TransientError:
    """Return what it means that a storage gives no answer, or refuses one."""
    address = urlparse(location)
    # Before the host and after the path of an address there may be keys.
    place = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
    return TransientError(
        f'"{place}" cannot be reached',
        detail=f"{type(error).__name__}: the storage gave no answer, or refused one.",
        hint="See that it can be reached, and that you may use it; it is tried again by itself.",
    )
