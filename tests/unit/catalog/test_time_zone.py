"""The zone of a warehouse is that of the first session which computes in it."""

from __future__ import annotations

from pathlib import Path

from streamtables.catalog.store import Catalog


def test_the_first_session_fixes_the_zone_for_all(tmp_path: Path):
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        assert catalog.time_zone("Europe/Berlin") == "Europe/Berlin"
        assert catalog.time_zone("UTC") == "Europe/Berlin"
    with Catalog.open(tmp_path / "catalog.db") as again:
        assert again.time_zone("Asia/Tokyo") == "Europe/Berlin"
