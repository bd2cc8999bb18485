"""The files that one version of a Delta table needs, copied as files.

Copied are the log up to the version, the files with its rows, and what the change feed since an
earlier version reads.  No row is looked at.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from streamtables.engine.outcomes import NotSmall
from streamtables.engine.small_commit import SmallHandle, first_line
from streamtables.engine.stores import local_path
from streamtables.errors import ConfigError, EnvironmentFaultError
from streamtables.positions import Version

_LOG = "_delta_log"
_LAST_CHECKPOINT = "_last_checkpoint"
_NUMBERED = re.compile(r"^(\d{20})\.(json|crc|checkpoint\..*parquet|checkpoint\.parquet)$")
_ACTIONS = ("add", "remove", "cdc")


def copy_version(location: str, version: Version, target: Path, *, since: Version) -> int:
    """Copy one version to a folder; `since` is the oldest version whose changes are still read.

    Raises:
        ConfigError: the table is not on a disk of this machine.
    """
    from deltalake.exceptions import DeltaError

    folder = local_path(location)
    if folder is None:
        raise ConfigError(
            f'the table at "{location}" is in a store, and is not copied from here',
            hint="Copy it by the means of the store, and make the backup without the tables.",
        )
    try:
        names = {*_rows(location, version), *_changes(folder, since, version)}
        for name in sorted(names):
            _copy(folder / name, target / name)
        for name in _log(folder, version):
            _copy(folder / _LOG / name, target / _LOG / name)
    except (NotSmall, DeltaError, OSError) as error:
        raise EnvironmentFaultError(
            f'the table at "{location}" cannot be copied', detail=first_line(error)
        ) from error
    return len(names)


def _rows(location: str, version: Version) -> Iterator[str]:
    handle = SmallHandle.open(location, int(version))
    start = local_path(location)
    for uri in handle.table.file_uris():
        path = local_path(uri)
        assert path is not None
        assert start is not None
        yield path.relative_to(start.absolute()).as_posix()


def _changes(folder: Path, since: Version, version: Version) -> Iterator[str]:
    """Return the files that the commits after `since` name, as far as they are still there."""
    for number in range(int(since) + 1, int(version) + 1):
        entry = folder / _LOG / f"{number:020d}.json"
        for line in entry.read_text().splitlines() if entry.exists() else ():
            action = json.loads(line)
            for kind in _ACTIONS:
                if kind in action:
                    name = unquote(action[kind]["path"])
                    if (folder / name).exists():
                        yield name


def _log(folder: Path, version: Version) -> Iterator[str]:
    for file in sorted((folder / _LOG).iterdir()):
        found = _NUMBERED.match(file.name)
        if found is not None and int(found[1]) <= version:
            yield file.name
    hint = folder / _LOG / _LAST_CHECKPOINT
    # A hint at a checkpoint that is not copied would lead readers astray.
    if hint.exists() and json.loads(hint.read_text())["version"] <= version:
        yield _LAST_CHECKPOINT


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
