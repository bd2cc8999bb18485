"""Catalogs of every earlier version, with rows in all their tables, opened by this release."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from streamtables.catalog import Catalog, default_location, upgrade
from streamtables.catalog.upgrade import VERSIONS
from streamtables.errors import CatalogUnreadableError
from streamtables.positions import Frontier, InputId, Version
from tests.unit.catalog.builders import START, source, standing, stream_table

NOW = "2030-01-01T00:00:00.000000+00:00"
COLUMNS = '[["id","bigint",true]]'
# What each version added, as its releases wrote it.
ROWS: dict[str, list[tuple[str, tuple[object, ...]]]] = {
    "0001": [
        ("sources", ("s", "Orders", "orders", "delta", "/o", '["id"]', COLUMNS, "d", NOW)),
        (
            "stream_tables (id, name, name_key, query, defining_query_hash, schedule, mode,"
            " full_policy, tier, options, location, state, state_reason, columns, created_at,"
            " altered_at, generation)",
            (
                "t",
                "T",
                "t",
                "SELECT id FROM orders",
                "hash",
                "manual",
                "auto",
                "allow",
                "hot",
                "{}",
                "/t",
                "active",
                "",
                COLUMNS,
                NOW,
                NOW,
                1,
            ),
        ),
        ("dependencies", ("t", "s", "source", '["id"]')),
        ("standings", ("t", 3, 2, "r", '{"s": 7}', '{"s": 7}', "hash", NOW)),
        (
            "refreshes",
            (
                "r",
                "t",
                2,
                "applied",
                "full",
                "first",
                "",
                "overwrite",
                "{}",
                '{"s": 7}',
                '{"s": 7}',
                5,
                0,
                5,
                1.5,
                "[]",
                "[]",
                "",
                "",
                "host:1",
                NOW,
                NOW,
            ),
        ),
    ],
    "0002": [
        ("views", ("v", "V", "v", "SELECT 1 AS a", "[]", NOW, NOW)),
        ("functions", ("f", "F", "f", "sql", "[]", "int", "1", 1, "[]", NOW, NOW)),
    ],
    "0003": [
        ("sources", ("p", "People", "people", "postgres", "/p", '["id"]', COLUMNS, "e", NOW)),
        (
            "captures",
            (
                "p",
                "url",
                "1/2",
                "tag",
                9,
                "public.people",
                "auto",
                "wal",
                "{}",
                "{}",
                None,
                0,
                "",
                "",
            ),
        ),
        ("capture_events", (1, "p", NOW, "added", "captured by wal")),
        ("drains", ("1/2", 4, "5:5:", "0/1", '{"p": 6}', "{}", NOW)),
    ],
    "0004": [
        ("gates", ("s", "loading", NOW)),
        ("events", (1, NOW, "suspended", "t", "T", "it failed")),
        ("epochs", (1, NOW)),
        ("epoch_moves", ("t", 1, 3, '{"s": 7}')),
    ],
    "0005": [("plan_records", ("t", "facts", "print", b"record"))],
    "0006": [("write_locks", ("s", "*", "host:1:w", NOW))],
    "0007": [
        ("publications", ("p1", "News", "news", "T", "t", NOW)),
        (
            "subscribers",
            ("p1", "crm", "d", 3, None, "pull", "{}", None, "active", "", 0, None, NOW, NOW),
        ),
    ],
    "0008": [
        ("snapshots", ("before", 1, NOW)),
        ("snapshot_tables", ("before", "t", "T", 3, '{"s": 7}', '{"s": 7}', "hash")),
    ],
    "0009": [("cancellations", ("r", "user ann", NOW))],
    "0010": [("watermark_groups", ("shop", '["s"]', 60.0, NOW))],
    "0011": [("source_heads", ("s", 7, "0a1b"))],
    "0012": [("file_folders", ("s", "/landing", "csv", "*.csv", "id INT", '{"sep": ";"}'))],
    "0013": [],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return default_location(tmp_path)


def made_at(path: Path, version: str) -> None:
    """Make a catalog as a release of that version did, with rows in all its tables."""
    path.parent.mkdir()
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("path_separator", "os")
        config.set_main_option("script_location", str(Path(upgrade.__file__).parent / "migrations"))
        command.upgrade(config, version)
    engine.dispose()
    file = sqlite3.connect(path)
    with file:
        for known in VERSIONS[: VERSIONS.index(version) + 1]:
            for table, values in ROWS.get(known, []):
                places = ", ".join("?" * len(values))
                file.execute(
                    f"INSERT INTO {_spelled(file, table, values)} VALUES ({places})", values
                )
        file.execute("UPDATE catalog_meta SET generation = 1")
    file.close()


def _spelled(connection: sqlite3.Connection, table: str, values: tuple[object, ...]) -> str:
    if "(" in table:
        return table
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    return f"{table} ({', '.join(names[: len(values)])})"


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}
    connection.close()
    return found


def test_every_version_has_rows_of_its_own():
    assert tuple(ROWS) == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_catalog_of_any_version_keeps_what_it_holds_and_is_used_on(path: Path, version: str):
    made_at(path, version)
    known = VERSIONS[: VERSIONS.index(version) + 1]
    with Catalog.open(path) as catalog:
        table = catalog.stream_table("t")
        assert [item.id for item in table.inputs] == ["s"]
        assert catalog.standings()[table.id].frontier == Frontier({InputId("s"): Version(7)})
        assert [record.rows_inserted for record in catalog.history(table.id, 9)] == [5]
        assert len(catalog.views()) == len(catalog.functions()) == ("0002" in known)
        assert len(catalog.captured_databases()) == ("0003" in known)
        assert catalog.last_epoch() == ("0004" in known)
        assert (catalog.plan_record(table.id, "print", "facts") is not None) == ("0005" in known)
        other = catalog.create_stream_table(stream_table("other"), ())
        assert catalog.adopt_standing(other.id, standing(1, {"s": 7}))
        assert catalog.record_epoch([other.id], START) is not None
        catalog.add_source(source("more"))


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_the_file_is_kept_as_it_was_and_named(
    path: Path, version: str, caplog: pytest.LogCaptureFixture
):
    made_at(path, version)
    before = contents(path)
    with caplog.at_level(logging.WARNING, "streamtables.catalog"):
        Catalog.open(path).close()
    kept = path.with_name(f"catalog.db.{version}")
    assert contents(kept) == before
    assert [vars(record)["fields"]["copy"] for record in caplog.records] == [str(kept)]
    # Put back, it is upgraded once more, and neither copy is lost.
    path.write_bytes(kept.read_bytes())
    Catalog.open(path).close()
    assert contents(path.with_name(f"catalog.db.{version}-2")) == before


def test_a_catalog_that_is_new_or_up_to_date_is_not_copied(path: Path):
    for _ in range(2):
        Catalog.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["catalog.db"]


def test_without_room_for_the_copy_nothing_is_upgraded(path: Path, monkeypatch: pytest.MonkeyPatch):
    made_at(path, "0001")

    class Full(sqlite3.Connection):
        def backup(self, *_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda file: connect(file, factory=Full))
    with pytest.raises(CatalogUnreadableError) as caught:
        Catalog.open(path)
    monkeypatch.undo()
    assert "nothing was changed" in caught.value.hint
    assert contents(path)["alembic_version"] == [("0001",)]
    assert not path.with_name("catalog.db.0001").exists()


def test_of_two_processes_one_upgrades_and_the_other_waits(path: Path):
    made_at(path, "0001")
    program = (
        "from streamtables.catalog import Catalog; "
        f"c = Catalog.open({str(path)!r}); print(c.stream_table('t').name); c.close()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    assert [process.communicate(timeout=120)[0].strip() for process in started] == ["T", "T"]
    copies = [file.name for file in path.parent.iterdir() if file.name != "catalog.db"]
    assert copies == ["catalog.db.0001"]
