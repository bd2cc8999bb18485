"""How far behind a table is, as the log of its source tells; nothing here starts Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from tests.support.delta_tables import DeltaTableFile
from tests.unit.catalog.builders import record, standing


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    """A warehouse whose clock is an hour ahead of the commits."""
    later = lambda: datetime.now(UTC) + timedelta(hours=1)  # noqa: E731
    with StreamTables(tmp_path / "w", clock=later) as opened:
        yield opened


@pytest.fixture
def orders(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    made = DeltaTableFile(tmp_path / "orders", {"id": "bigint"}, [(1,)])
    db.add_source("orders", path=made.path)
    return made


def filled(db: StreamTables, version: int) -> StreamTable:
    """Have the catalog know a table that stands for a version of the source."""
    table = db.create("t", "SELECT id FROM orders")
    source = db._catalog.source("orders")
    stands = standing(1, {source.id: version}, query_hash=table.defining_query_hash)
    db._catalog.finish_refresh(record(table.id, state="applied"), stands)
    return table


def test_a_table_that_has_everything_has_no_lag(db: StreamTables, orders: DeltaTableFile) -> None:
    filled(db, 0)
    [status] = db.status()
    assert (status.changes_pending, status.lag_seconds) == (False, 0.0)


def test_the_lag_is_the_age_of_the_oldest_commit_that_is_lacking(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    filled(db, 0)
    orders.append((2,))
    orders.append((3,))
    [status] = db.status()
    assert status.changes_pending
    assert status.lag_seconds == pytest.approx(3_600, abs=120)


def test_before_the_first_fill_nobody_knows(db: StreamTables, orders: DeltaTableFile) -> None:
    db.create("t", "SELECT id FROM orders")
    [status] = db.status()
    assert (status.changes_pending, status.lag_seconds) == (True, None)


def test_where_the_log_no_longer_tells_the_lag_is_unknown(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    filled(db, 0)
    orders.append((2,))
    orders.append((3,))
    (Path(orders.path) / "_delta_log" / f"{1:020}.json").unlink()
    [status] = db.status()
    assert (status.changes_pending, status.lag_seconds) == (True, None)
