"""What a backup says of itself: written beside the copied catalog, checked before a restore."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from streamtables.catalog.upgrade import VERSIONS
from streamtables.errors import ConfigError

FORMAT = 1
FILE = "manifest.json"
CATALOG = "catalog.db"


@dataclass(frozen=True)
class BackedUp:
    """One table or source at the moment of the backup."""

    id: str
    name: str
    kind: str
    """`stream-table`, `mirror` or `source`."""
    location: str
    delta_table_id: str
    version: int | None
    frontier: dict[str, int]


@dataclass(frozen=True)
class Manifest:
    """What is in a backup, and what it was taken from."""

    made_at: str
    program: str
    catalog_revision: str
    catalog_sha256: str
    warehouse: str
    with_tables: bool
    tables: tuple[BackedUp, ...]

    def write(self, folder: Path) -> None:
        """Write it: last, so that a backup without one is one that did not end."""
        data = {"format": FORMAT, **asdict(self)}
        (folder / FILE).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a backup.

    Raises:
        ConfigError: it is no backup, one of a later release, or one that is not whole.
    """
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        wanted = data.pop("format")
        if wanted != FORMAT:
            raise _refused(folder, f"its format is {wanted}, and this release knows {FORMAT}")
        tables = tuple(BackedUp(**item) for item in data.pop("tables"))
        manifest = Manifest(**data, tables=tables)
    except FileNotFoundError:
        raise _refused(folder, f"it has no {FILE}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _refused(folder, f"its {FILE} cannot be read: {error}") from error
    if manifest.catalog_revision not in VERSIONS:
        text = f"its catalog has the version {manifest.catalog_revision}, of a later release"
        raise _refused(folder, text)
    if not (folder / CATALOG).is_file() or digest(folder / CATALOG) != manifest.catalog_sha256:
        raise _refused(folder, f"its {CATALOG} is missing, or is not the one that was backed up")
    return manifest


def digest(file: Path) -> str:
    """Return what tells one file from another."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _refused(folder: Path, reason: str) -> ConfigError:
    return ConfigError(
        f'"{folder}" is not a backup that can be restored',
        detail=f"Reason: {reason}.",
        hint="Name a folder that `streamtables backup` wrote, whole.",
    )
