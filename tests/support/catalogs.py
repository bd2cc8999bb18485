"""Catalogs ready made: a new warehouse starts from a copy, not from every migration."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from streamtables.catalog import Catalog, default_location


def with_catalog(warehouse: Path) -> Path:
    """Lay an empty catalog of this release into a new warehouse; return the warehouse."""
    file = default_location(warehouse)
    file.parent.mkdir(parents=True)
    file.write_bytes(_empty())
    return warehouse


@cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "catalog.db")
        Catalog.open(file).close()
        return file.read_bytes()
