"""A catalog on a PostgreSQL server: backed up, and put back to the same kind or to a file."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from streamtables.api import connect
from streamtables.backing_up import restore
from streamtables.catalog import Catalog, default_location
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import AlreadyExistsError
from tests.unit.catalog.builders import START, source, stream_table

pytestmark = pytest.mark.postgres


def _filled(url: str) -> None:
    with Catalog.open(url) as catalog:
        catalog.add_source(source("orders"))
        owner = catalog.create_stream_table(stream_table("a"), ())
        catalog.create_stream_table(stream_table("aa_state", owner_id=owner.id), ())
        for number in range(3):
            catalog.record_events([Event(START, "suspended", f"{number}", owner.id, "a")])


def _contents(location: str | Path) -> tuple[object, ...]:
    with Catalog.open(location) as catalog:
        tables = {table.name: table.query for table in catalog.stream_tables(internal=True)}
        names = [item.name for item in catalog.sources()]
        return names, tables, [event.text for event in catalog.events(None, 10)]


def test_the_way_out_and_back(database: str, tmp_path: Path) -> None:
    _filled(database)
    before = _contents(database)
    with connect(tmp_path / "w", catalog=database) as db:
        db.backup(tmp_path / "b")
    restore(tmp_path / "b", tmp_path / "file")
    assert _contents(default_location(tmp_path / "file")) == before
    with pytest.raises(AlreadyExistsError):
        restore(tmp_path / "b", tmp_path / "w", catalog=database)
    with Catalog.open(database) as catalog:
        catalog.add_source(source("later"))
    restore(tmp_path / "b", tmp_path / "w", catalog=database, force=True)
    assert _contents(database) == before
    replaced = tmp_path / "w" / "_streamtables" / "catalog.db.replaced"
    assert _contents(replaced)[0] == ["later", "orders"]
    # Numbers that the server gives go on after those that came with the rows.
    with Catalog.open(database) as catalog:
        table = catalog.stream_table("a")
        catalog.record_events([Event(START, "suspended", "new", table.id, "a")])
        assert next(event.text for event in catalog.events(None, 10)) == "new"


def test_an_empty_database_takes_a_restore(database: str, tmp_path: Path) -> None:
    with connect(tmp_path / "w") as db:
        db._catalog.add_source(source("orders"))
        db.backup(tmp_path / "b")
    restore(tmp_path / "b", tmp_path / "other", catalog=database)
    assert _contents(database)[0] == ["orders"]
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT count(*) FROM streamtables.sources").fetchone()
    assert row == (1,)
