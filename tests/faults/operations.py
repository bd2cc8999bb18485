"""What tests do in a process that is killed on the way, on a warehouse in the given folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.backing_up import restore
from streamtables.catalog import Catalog, default_location
from tests.faults.steps import from_now
from tests.support.postgres_chain import Chain
from tests.support.settings import settings_with

NEW_QUERY = "SELECT id, note FROM orders WHERE id > 1"


def _opened(folder: Path) -> StreamTables:
    return StreamTables(folder / "warehouse")


def create(folder: Path) -> None:
    with _opened(folder) as db:
        db.create("fresh", "SELECT count(*) AS n FROM t")


def alter(folder: Path) -> None:
    with _opened(folder) as db:
        db.alter("t", query=NEW_QUERY, schedule="5 minutes")


def drop(folder: Path) -> None:
    with _opened(folder) as db:
        db.drop("t")


def migrate(folder: Path) -> None:
    Catalog.open(default_location(folder)).close()


def migrate_on_a_server(_: Path) -> None:
    Catalog.open(os.environ["CATALOG"]).close()


def push(folder: Path) -> None:
    with _opened(folder) as db:
        assert [done.error for done in db.push() if done.error] == []


def capture(folder: Path) -> None:
    with Chain(folder / "warehouse", os.environ["CAPTURED"]) as chain:
        chain.add("items")


def capture_by_wal(folder: Path) -> None:
    with Chain(folder / "warehouse", os.environ["CAPTURED"]) as chain:
        chain.add("items", capture="wal")


def capture_no_more(folder: Path) -> None:
    with Chain(folder / "warehouse", os.environ["CAPTURED"]) as chain:
        chain.capture.drop(chain.catalog.source("items"))


def backup(folder: Path) -> None:
    with _opened(folder) as db:
        db.backup(folder / "backup", with_tables=True)


def put_back(folder: Path) -> None:
    restore(folder / "backup", folder / "warehouse", force=True)


def put_back_to_snapshot(folder: Path) -> None:
    with _opened(folder) as db:
        from_now()
        db.restore_snapshot("before")


def tidy_up(folder: Path) -> None:
    settings = settings_with(checkpoint_after=2, compact_after=2, retention_hours=1)
    with StreamTables(folder / "warehouse", settings=settings) as db:
        from_now()
        assert [done.text for done in db.maintain() if done.error is not None] == []


def take_over(folder: Path, hours: int = 1) -> None:
    """Lead once the lease of whoever led has run out."""
    later = datetime.now(UTC) + timedelta(hours=hours)
    with StreamTables(folder / "warehouse", clock=lambda: later) as db:
        db.tick()
