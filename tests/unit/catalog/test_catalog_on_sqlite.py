"""The catalog on its default database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.catalog import Catalog, database, default_location
from streamtables.errors import TransientError
from tests.unit.catalog.builders import source
from tests.unit.catalog.contract import (
    DefinitionContract,
    LibraryContract,
    PlanRecordContract,
    PositionContract,
    RefreshContract,
    SnapshotContract,
)
from tests.unit.catalog.publication_contract import PublicationContract
from tests.unit.catalog.scheduler_contract import (
    EpochContract,
    EventsContract,
    LeaseContract,
    RulesContract,
)


@pytest.fixture(scope="module")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = default_location(tmp_path_factory.mktemp("empty"))
    Catalog.open(path).close()
    return path.read_bytes()


@pytest.fixture
def catalog(tmp_path: Path, empty_catalog: bytes) -> Iterator[Catalog]:
    path = default_location(tmp_path)
    path.parent.mkdir()
    path.write_bytes(empty_catalog)
    with Catalog.open(path) as opened:
        yield opened


class TestDefinitions(DefinitionContract):
    pass


class TestLibrary(LibraryContract):
    pass


class TestPublications(PublicationContract):
    pass


class TestPlanRecords(PlanRecordContract):
    pass


class TestPositions(PositionContract):
    pass


class TestRefreshes(RefreshContract):
    pass


class TestSnapshots(SnapshotContract):
    pass


class TestLeases(LeaseContract):
    pass


class TestRules(RulesContract):
    pass


class TestEvents(EventsContract):
    pass


class TestEpochs(EpochContract):
    pass


def test_two_openings_see_each_others_changes(catalog: Catalog, tmp_path: Path):
    with Catalog.open(default_location(tmp_path)) as other:
        assert other.sources() == ()
        orders = catalog.add_source(source("orders"))
        assert other.sources() == (orders,)
        assert other.snapshot().sources == {orders.id: orders}


@pytest.mark.fault(
    "catalog",
    "another program keeps the SQLite file locked",
    step="any write",
    seen="ST-3000 after ten seconds",
    recovery="by itself",
)
def test_a_writer_that_holds_the_lock_too_long_is_a_passing_fault(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 1)
    other = sqlite3.connect(default_location(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Catalog.open(default_location(tmp_path)) as impatient:
        assert impatient.generation() == 0
        with pytest.raises(TransientError):
            impatient.add_source(source("orders"))
    other.close()
    catalog.add_source(source("orders"))
