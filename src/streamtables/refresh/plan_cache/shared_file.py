"""The level that all processes of a machine share: one LMDB file in a folder of the user.

Readers take no lock that a writer holds, and a crash leaves the file as the last commit made it.
Only its owner may write to the folder: what is read here becomes SQL that Spark runs.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from streamtables.positions import InputId
from streamtables.refresh.plan_cache.levels import LevelFaultError
from streamtables.refresh.plan_cache.records import RecordName

if TYPE_CHECKING:
    import lmdb

_MEGABYTE = 1 << 20
_READERS = 1_024


class _RemovedError(LevelFaultError):
    """The file was damaged and is gone; a new one is made when it is next asked for."""


class SharedFile:
    """Records in a file that is opened on first use."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self._folder = folder / "records"
        self._megabytes = megabytes
        self._lock = Lock()
        self._opened: lmdb.Environment | None = None
        self._refused = ""
        self._process = os.getpid()

    @property
    def place(self) -> str:
        """The folder of the file."""
        return str(self._folder)

    def find(self, name: RecordName) -> bytes | None:
        """Return the record of a name."""
        with self._border() as environment, environment.begin() as transaction:
            found = transaction.get(name.text.encode())
            return None if found is None else bytes(found)

    def save(self, name: RecordName, record: bytes) -> int:
        """Keep a record; a file that is full is emptied first."""
        import lmdb

        with self._border() as environment:
            try:
                _put(environment, name, record)
                return 0
            except lmdb.MapFullError:
                gone = _emptied(environment)
                _put(environment, name, record)
                return gone

    def forget(self, table_ids: Iterable[InputId]) -> None:
        """Let go of all records of some tables."""
        with (
            self._border() as environment,
            environment.begin(write=True) as transaction,
            transaction.cursor() as cursor,
        ):
            for table_id in table_ids:
                start = f"{table_id}/".encode()
                found = cursor.set_range(start)
                while found and bytes(cursor.key()).startswith(start):
                    found = cursor.delete()

    def clear(self) -> int:
        """Let everything go, of other warehouses too; return how many records there were."""
        with self._lock:
            self._refused = ""
        with self._border() as environment:
            return _emptied(environment)

    def count(self) -> int:
        """Return how many records there are."""
        with self._border() as environment:
            return int(environment.stat()["entries"])

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            _shared.release(self._folder)

    @contextmanager
    def _border(self) -> Iterator[lmdb.Environment]:
        import lmdb

        environment = self._environment()
        try:
            yield environment
        except (lmdb.Error, OSError) as error:
            raise LevelFaultError(f"{type(error).__name__}: {error}") from error

    def _environment(self) -> lmdb.Environment:
        if os.getpid() != self._process:
            # LMDB must not be used by a child that inherited the open file.
            raise LevelFaultError("this process was forked from the one that opened the file")
        with self._lock:
            if self._refused:
                raise LevelFaultError(self._refused)
            if self._opened is None:
                try:
                    self._opened = _shared.open(self._folder, self._megabytes)
                except _RemovedError:
                    raise
                except LevelFaultError as fault:
                    # Once is enough: a folder that cannot be used would cost every refresh.
                    self._refused = str(fault)
                    raise
            return self._opened


def _put(environment: lmdb.Environment, name: RecordName, record: bytes) -> None:
    with environment.begin(write=True) as transaction:
        transaction.put(name.text.encode(), record)


def _emptied(environment: lmdb.Environment) -> int:
    with environment.begin(write=True) as transaction:
        count = int(transaction.stat()["entries"])
        transaction.drop(environment.open_db(txn=transaction), delete=False)
        return count


class _OpenFiles:
    """The files that this process has open: LMDB allows each but once in a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: dict[str, tuple[lmdb.Environment, int]] = {}

    def open(self, folder: Path, megabytes: int) -> lmdb.Environment:
        with self._lock:
            key = os.path.abspath(folder)
            environment, users = self._open.get(key, (None, 0))
            if environment is None:
                environment = _opened(folder, megabytes)
            self._open[key] = (environment, users + 1)
            return environment

    def release(self, folder: Path) -> None:
        with self._lock:
            key = os.path.abspath(folder)
            environment, users = self._open.pop(key)
            if users > 1:
                self._open[key] = (environment, users - 1)
            else:
                environment.close()


_shared = _OpenFiles()


def _opened(folder: Path, megabytes: int) -> lmdb.Environment:
    try:
        import lmdb
    except ImportError as error:
        raise LevelFaultError(f"the package lmdb cannot be imported: {error}") from error
    try:
        _make_private(folder)
        try:
            return _whole(_mapped(folder, megabytes), folder)
        except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.VersionMismatchError, EOFError):
            _set_aside(folder)
            raise _RemovedError(f'a damaged file in "{folder}" was removed') from None
    except (lmdb.Error, OSError) as error:
        raise LevelFaultError(f'the file in "{folder}" cannot be opened: {error}') from error


def _mapped(folder: Path, megabytes: int) -> lmdb.Environment:
    import lmdb

    return lmdb.open(
        str(folder),
        map_size=megabytes * _MEGABYTE,
        mode=0o600,
        # Without it a power cut may take the last records with it, and nothing else.
        metasync=False,
        readahead=False,
        max_readers=_READERS,
    )


def _whole(environment: lmdb.Environment, folder: Path) -> lmdb.Environment:
    """Return the file, or refuse one that was cut short: to read past its end ends the process."""
    pages = int(environment.info()["last_pgno"]) + 1
    if (folder / "data.mdb").stat().st_size < pages * int(environment.stat()["psize"]):
        environment.close()
        raise EOFError
    environment.reader_check()
    return environment


def _make_private(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    for path in (folder, folder / "data.mdb", folder / "lock.mdb"):
        with suppress(FileNotFoundError):
            _require_own(path, path.lstat())


def _require_own(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.getuid() or found.st_mode & 0o022 or stat.S_ISLNK(found.st_mode):
        raise LevelFaultError(f'"{path}" is not this user\'s alone, so it is not trusted')


def _set_aside(folder: Path) -> None:
    """Remove a file that is none of ours; a process that has it open goes on with it unseen."""
    gone = folder.with_name(f"{folder.name}.{uuid4().hex}")
    with suppress(FileNotFoundError):
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
