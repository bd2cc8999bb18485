"""Backups and restores, killed before each of their steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from streamtables.backing_up import restore
from streamtables.catalog import Catalog, default_location
from streamtables.errors import ConfigError
from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.unit.catalog.builders import stream_table
from tests.unit.catalog.test_old_catalogs import contents
from tests.unit.refresh.test_backup_and_restore import Warehouse, standings, states

pytestmark = [pytest.mark.crash, pytest.mark.slow]

STATES = {"low": "active", "high": "active"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A warehouse with two tables that refreshes wrote."""
    place = tmp_path / "place"
    house = Warehouse(place / "warehouse")
    house.round()
    house.catalog.close()
    return place


def is_whole(warehouse: Path) -> bool:
    """Whether both tables stand where the catalog says, with their rows."""
    with Catalog.open(default_location(warehouse)) as catalog:
        found = [DeltaTable(catalog.stream_table(name).location) for name in STATES]
    rows = [table.to_pyarrow_table().num_rows for table in found]
    return (states(warehouse), standings(warehouse), rows) == (
        STATES,
        {"low": 0, "high": 0},
        [1, 1],
    )


@pytest.mark.fault(
    "process",
    "killed while it makes a backup",
    step="every step",
    seen="a folder that is no whole backup; `restore` refuses it (ST-1401)",
    recovery="make it again, into another folder",
)
def test_a_killed_backup_is_whole_or_refused(folder: Path) -> None:
    found = []
    for _ in killed_at_every_step(operations.backup, folder):
        target = folder / "restored"
        try:
            restore(folder / "backup", target)
        except ConfigError:
            found.append(False)
            assert not target.exists()
        else:
            found.append(True)
            assert is_whole(target)
        assert is_whole(folder / "warehouse")
    assert (found[0], found[-1]) == (False, True)
    assert found == sorted(found)


@pytest.mark.fault(
    "process",
    "killed while it restores a backup over a warehouse",
    step="every step",
    seen="an unfinished restore; the catalog that it replaces is kept",
    recovery="`streamtables restore BACKUP --into WAREHOUSE --force`, once more",
)
def test_a_killed_restore_is_ended_by_another_one(folder: Path) -> None:
    operations.backup(folder)
    home = folder / "warehouse" / "_streamtables"
    with Catalog.open(home / "catalog.db") as catalog:
        # Still open, so that a part of the catalog is in its write-ahead log alone.
        catalog.create_stream_table(stream_table("later"), ())
        for _ in killed_at_every_step(operations.put_back, folder):
            _end_the_restore(folder, home)


def _end_the_restore(folder: Path, home: Path) -> None:
    operations.put_back(folder)
    assert is_whole(folder / "warehouse")
    tables = {item.name for item in (folder / "warehouse" / "tables").iterdir()}
    assert tables == {"low", "high"}
    assert not list(home.glob("restoring-*"))
    kept = [f for f in home.glob("catalog.db.replaced*") if not f.name.endswith(("-wal", "-shm"))]
    names = [{row[1] for row in contents(file)["stream_tables"]} for file in kept]
    assert {"low", "high", "later"} in names
