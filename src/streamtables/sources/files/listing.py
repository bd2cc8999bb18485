"""Two listings of a folder compared: files that came, and what makes all rows be read anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from gzip import compress, decompress
from zlib import error as ZlibError  # noqa: N812  the module names no class

from streamtables.engine.file_listing import FileState

Listing = Mapping[str, FileState]
_FORMAT = 1


@dataclass(frozen=True)
class Difference:
    """How a folder differs from what was taken of it; each part in the order of the names."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def why_anew(self) -> str:
        """Why rows that were taken are no longer those of the folder; empty where they are."""
        parts = [_told("changed", self.changed), _told("is gone", self.gone)]
        return " and ".join(part for part in parts if part)


def difference(taken: Listing, now: Listing) -> Difference:
    """Compare what was taken with what is there."""
    return Difference(
        new=tuple(name for name in now if name not in taken),
        changed=tuple(name for name in now if name in taken and taken[name] != now[name]),
        gone=tuple(name for name in taken if name not in now),
    )


def _told(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    others = f", with {len(names) - 1:,} others," if len(names) > 1 else ""
    return f'the file "{names[0]}"{others} {what}'


def to_bytes(listing: Listing) -> bytes:
    """Return a listing as it is kept."""
    files = {name: [state.size, state.modified_ns] for name, state in listing.items()}
    return compress(json.dumps({"format": _FORMAT, "files": files}).encode(), mtime=0)


def from_bytes(data: bytes) -> Listing | None:
    """Read a listing back; None where it is not one, whatever became of it."""
    try:
        kept = json.loads(decompress(data))
        if kept["format"] != _FORMAT:
            return None
        return {name: FileState(int(size), int(at)) for name, (size, at) in kept["files"].items()}
    except (OSError, EOFError, ZlibError, ValueError, KeyError, TypeError, AttributeError):
        return None
