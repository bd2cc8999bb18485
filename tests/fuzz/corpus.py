"""Inputs that once went wrong, one file each, tried again with every run.

A file is named by its content, so that the same input is kept once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"


def kept(target: str) -> Iterator[tuple[str, bytes]]:
    """Yield the inputs that are kept for a target, with the names of their files."""
    for path in sorted((FOLDER / target).glob("*.bin")):
        yield path.name, path.read_bytes()


def keep(target: str, data: bytes) -> Path:
    """Keep an input."""
    path = FOLDER / target / f"{hashlib.sha256(data).hexdigest()[:16]}.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
