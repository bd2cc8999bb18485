"""A catalog on a PostgreSQL server that is upgraded by a process which is killed on the way."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from streamtables.catalog import Catalog, upgrade
from streamtables.catalog.database import SCHEMA, database_at
from streamtables.catalog.upgrade import VERSIONS
from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.unit.catalog.test_old_catalogs import ROWS

pytestmark = [pytest.mark.postgres, pytest.mark.crash, pytest.mark.slow]

OLDEST = VERSIONS[0]


def _made(url: str) -> None:
    """Make a catalog as the first release did, in the place of what is there."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
    database = database_at(url)
    with database.writing() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("path_separator", "os")
        config.set_main_option("script_location", str(Path(upgrade.__file__).parent / "migrations"))
        command.upgrade(config, OLDEST)
        table, values = ROWS[OLDEST][0]
        places = ", ".join(f":v{number}" for number in range(len(values)))
        row = {f"v{number}": value for number, value in enumerate(values)}
        connection.execute(text(f"INSERT INTO {table} VALUES ({places})"), row)
    database.close()


def _version(url: str) -> str:
    with psycopg.connect(url) as connection:
        [found] = connection.execute(f"SELECT version_num FROM {SCHEMA}.alembic_version").fetchall()
        return str(found[0])


@pytest.mark.fault(
    "process",
    "killed while it upgrades a catalog on a PostgreSQL server",
    step="every twentieth step of all migrations",
    seen="nothing: the catalog is at the old revision, or at the new one, with all that it held",
    recovery="by itself: the next process upgrades it",
)
def test_a_killed_upgrade_on_a_server_is_done_by_the_next_process(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CATALOG", database)
    folder = tmp_path / "place"
    folder.mkdir()
    found = []
    tries = killed_at_every_step(
        operations.migrate_on_a_server, folder, every=20, prepare=lambda _: _made(database)
    )
    for _ in tries:
        found.append(_version(database))
        with Catalog.open(database) as catalog:
            assert [source.name for source in catalog.sources()] == ["Orders"]
        assert _version(database) == VERSIONS[-1]
    assert (found[0], found[-1]) == (OLDEST, VERSIONS[-1])
    assert set(found) == {OLDEST, VERSIONS[-1]}
