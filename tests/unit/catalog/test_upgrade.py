"""Opening: a new catalog, one that is up to date, and what must be left alone."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from streamtables.catalog import Catalog, default_location
from streamtables.catalog.schema import metadata
from streamtables.catalog.upgrade import VERSIONS
from streamtables.errors import CatalogUnreadableError, ConfigError
from tests.unit.catalog.builders import source, stream_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return default_location(tmp_path)


def test_a_new_catalog_is_made_with_its_folder(path: Path):
    with Catalog.open(path) as catalog:
        assert catalog.generation() == 0
    assert [file.name for file in path.parent.iterdir()] == ["catalog.db"]


def test_what_was_stored_is_there_when_opened_again(path: Path):
    with Catalog.open(path) as catalog:
        orders = catalog.add_source(source("orders"))
    with Catalog.open(f"sqlite:///{path}") as catalog:
        assert catalog.sources() == (orders,)


def test_the_database_waits_writes_ahead_and_checks_references(path: Path):
    with Catalog.open(path) as catalog, catalog._database.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "busy_timeout", "synchronous", "foreign_keys")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "busy_timeout": 10_000,
        "synchronous": 1,
        "foreign_keys": 1,
    }


def test_opening_one_that_is_up_to_date_does_not_import_alembic(path: Path):
    Catalog.open(path).close()
    program = (
        "import sys; from streamtables.catalog import Catalog; "
        f"Catalog.open({str(path)!r}).close(); print('alembic' in sys.modules)"
    )
    output = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert output.stdout.strip() == "False"


def test_migrations_are_numbered_without_gaps_and_known():
    folder = Path(__file__).parents[3] / "src/streamtables/catalog/migrations/versions"
    numbers = sorted(file.name[:4] for file in folder.glob("*.py"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
    assert tuple(numbers) == VERSIONS


def test_migrations_give_the_tables_that_the_code_expects(path: Path):
    Catalog.open(path).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def _made_at(path: Path, version: str) -> None:
    """Make the catalog as a release of that version would have."""
    from alembic import command
    from alembic.config import Config

    path.parent.mkdir()
    folder = Path(__file__).parents[3] / "src/streamtables/catalog/migrations"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("path_separator", "os")
        config.set_main_option("script_location", str(folder))
        command.upgrade(config, version)
    engine.dispose()


def test_a_catalog_of_the_first_version_keeps_what_it_holds(path: Path):
    _made_at(path, "0001")
    now = "2030-01-01T00:00:00.000000+00:00"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO stream_tables VALUES ('i', 'T', 't', 'SELECT 1 AS a', 'hash', 'manual', "
            "'auto', 'allow', 'hot', '{}', '/t', 'active', '', '[[\"a\",\"int\",true]]', NULL, NULL, "
            "?, ?, 1)",
            (now, now),
        )
        connection.execute("UPDATE catalog_meta SET generation = 1")
    connection.close()
    with Catalog.open(path) as catalog:
        table = catalog.stream_table("t")
        assert (table.query, table.defining_query_hash) == ("SELECT 1 AS a", "hash")
        assert (table.uses, catalog.views(), catalog.functions()) == ((), (), ())
        assert catalog.generation() == 1


def test_a_catalog_from_before_plans_were_kept_gets_a_place_for_them(path: Path):
    _made_at(path, "0004")
    with Catalog.open(path) as catalog:
        table = catalog.create_stream_table(stream_table("t"), ())
        catalog.put_plan_record(table.id, "fingerprint", "facts", b"record")
        assert catalog.plan_record(table.id, "fingerprint", "facts") == b"record"


def _refused(path: Path) -> CatalogUnreadableError:
    """Open `path`, which must fail and leave the file as it was."""
    before = path.read_bytes()
    with pytest.raises(CatalogUnreadableError) as caught:
        Catalog.open(path)
    assert path.read_bytes() == before
    assert caught.value.hint
    return caught.value


@pytest.mark.fault(
    "catalog",
    "an older release opens a newer catalog",
    step="opening",
    seen="ST-4002; the file stays as it is",
    recovery="install the newer release",
)
def test_a_newer_catalog_is_refused_as_it_is(path: Path):
    Catalog.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.close()
    assert "0999" in _refused(path).message


def test_a_file_that_is_no_database_is_refused_as_it_is(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 100)
    _refused(path)


@pytest.mark.fault(
    "catalog",
    "pages of the SQLite file are overwritten",
    step="opening",
    seen="ST-4002; the file stays as it is",
    recovery="`streamtables restore BACKUP --into WAREHOUSE --force`",
)
def test_a_damaged_catalog_is_refused_as_it_is(path: Path):
    Catalog.open(path).close()
    path.write_bytes(path.read_bytes()[:4096] + b"\0" * 4096)
    _refused(path)


def test_the_database_of_another_program_is_refused_as_it_is(path: Path):
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
    connection.close()
    assert "not a catalog" in _refused(path).message


def test_a_folder_that_cannot_be_made_is_an_environment_fault(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogUnreadableError) as caught:
        Catalog.open(tmp_path / "file" / "_streamtables" / "catalog.db")
    assert caught.value.hint


def test_a_folder_without_rights_is_an_environment_fault():
    # Nobody may make a folder under /proc, not even root.
    with pytest.raises(CatalogUnreadableError):
        Catalog.open(default_location(Path("/proc/streamtables")))


def test_a_failed_migration_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch):
    from streamtables.catalog import upgrade

    run = upgrade._run_migrations

    def run_and_fail(connection):
        run(connection)
        raise RuntimeError("power cut")

    monkeypatch.setattr(upgrade, "_run_migrations", run_and_fail)
    with pytest.raises(RuntimeError):
        Catalog.open(path)
    monkeypatch.undo()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()
    Catalog.open(path).close()


@pytest.mark.parametrize(
    "url", ["mysql://host/db", "postgresql+asyncpg://h/d", "sqlite://", "sqlite:///:memory:", "://"]
)
def test_other_databases_are_refused(url: str):
    with pytest.raises(ConfigError):
        Catalog.open(url)


def test_a_url_may_hold_secret_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CATALOG_FILE", str(tmp_path / "c.db"))
    monkeypatch.setenv("CATALOG_URL", f"sqlite:///{tmp_path}/folder/c.db")
    for location in ("sqlite:///${env:CATALOG_FILE}", "${env:CATALOG_URL}"):
        with Catalog.open(location) as catalog:
            assert catalog.generation() == 0
    assert (tmp_path / "folder" / "c.db").exists()
