"""The last drain of every captured database, with one statement."""

from __future__ import annotations

from pathlib import Path

from streamtables.catalog import Catalog
from streamtables.positions import Drain, Frontier, InputId, PgPosition, Version
from tests.unit.catalog.builders import START


def drain(database: str, number: int, **versions: int) -> Drain:
    found = Frontier({InputId(key): Version(version) for key, version in versions.items()})
    return Drain(database, number, PgPosition("1:1:", "0/1"), found, START)


def test_the_last_drain_of_each_database_costs_one_statement(tmp_path: Path):
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        assert catalog.last_drains() == {}
        for number in (1, 2):
            assert catalog.record_drain(drain("shop", number, orders=number))
        assert catalog.record_drain(drain("bank", 1, accounts=9))
        before = catalog.queries
        found = catalog.last_drains()
        assert catalog.queries == before + 1
        assert {name: dict(last.versions) for name, last in found.items()} == {
            "shop": {"orders": 2},
            "bank": {"accounts": 9},
        }
