"""Where a warehouse is, and which tables are its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.backing_up import restore
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import ConfigError


def test_a_folder_is_its_own_home(tmp_path: Path) -> None:
    for place in (tmp_path / "w", str(tmp_path / "w"), (tmp_path / "w").as_uri()):
        found = Warehouse.at(place)
        assert (found.home, found.uri, found.name) == (tmp_path / "w", None, "w")
        assert found.inside("tables", "t") == str(tmp_path / "w" / "tables" / "t")


def test_a_place_in_a_store_has_a_home_of_its_own_on_this_machine() -> None:
    one, other = Warehouse.at("s3://lake/shop/"), Warehouse.at("s3://pond/shop")
    assert (one.uri, one.name, one.shown) == ("s3://lake/shop", "shop", "s3://lake/shop")
    assert one.inside("tables", "t") == "s3://lake/shop/tables/t"
    assert one.home.is_absolute()
    assert one.home != other.home
    assert one == Warehouse.at("s3://lake/shop")
    assert Warehouse.at("s3://key:secret@lake/shop?token=hidden").shown == "s3://lake/shop"


@pytest.mark.parametrize(
    ("location", "own"),
    [
        ("s3://lake/shop/tables/t-1", True),
        ("s3://lake/shop/mirrors/t-1", True),
        ("s3://lake/shop/tables", False),
        ("s3://lake/shop/tables/../precious", False),
        ("s3://lake/shopping/tables/t", False),
        ("s3://lake/shop/_streamtables/t", False),
        ("/lake/shop/tables/t", False),
    ],
)
def test_only_its_own_tables_are_a_stores_warehouses(location: str, own: bool) -> None:
    assert Warehouse.at("s3://lake/shop").owns(location) is own


def test_a_warehouse_in_a_store_asks_for_a_catalog(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a catalog") as told:
        StreamTables("s3://lake/shop")
    assert "postgresql://" in told.value.hint
    with StreamTables("s3://lake/shop", catalog=str(tmp_path / "catalog.db")) as db:
        assert db.stream_tables() == []


def test_a_backup_is_not_restored_into_a_store(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in a store"):
        restore(tmp_path, "s3://lake/shop")
