"""Verify in parts, and repair with the least work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import new_refresh_id
from streamtables.engine import small_hand
from streamtables.engine.arrow_rows import with_weight
from streamtables.engine.session import SparkSessions
from streamtables.errors import ConfigError
from streamtables.positions import CommitStamp, Sequence
from tests.support.delta_tables import DeltaTableFile

ROWS = [(number, number % 10) for number in range(200)]


@pytest.fixture
def db(tmp_path: Path, spark_sessions: SparkSessions) -> Iterator[StreamTables]:
    DeltaTableFile(tmp_path / "t", {"id": "bigint", "a": "int"}, ROWS)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get()) as opened:
        opened.add_source("t", path=tmp_path / "t", key="id")
        opened.create("n", "SELECT a, count(*) AS n FROM t GROUP BY a")
        opened.create("high", "SELECT a FROM n WHERE n > 15")
        opened.create("rows", "SELECT id, a FROM t WHERE id < 150")
        opened.refresh_all()
        yield opened


def spoil(db: StreamTables, name: str, column: str, value: int, wrong: int | None = None) -> None:
    """Commit wrong rows as a refresh with a fault in it would, so that they count as ours."""
    table = next(item for item in db.stream_tables() if item.name == name)
    standing = db._catalog.standing(table.id)
    assert standing is not None
    handle = small_hand.open_at(table.location, standing.version)
    stored = small_hand.read_all(handle, rows_max=1_000)
    going = stored.filter(pc.equal(stored.column(column), value))
    place = stored.column_names.index("n" if "n" in stored.column_names else column)
    kind = stored.schema.field(place).type
    lies = pa.array([wrong if wrong is not None else 999] * going.num_rows, kind)
    coming = going.set_column(place, stored.column_names[place], lies)
    sides = (with_weight(going, -1), with_weight(coming, 1))
    stamp = CommitStamp(
        table_id=table.id,
        sequence=Sequence(standing.sequence + 1),
        refresh_id=new_refresh_id(),
        frontier=standing.frontier,
        base_frontier=standing.base_frontier,
        mode="differential",
        query_hash=standing.query_hash,
    )
    key = db._around.plans.plan(table, db._catalog.snapshot().definitions).facts.key
    small_hand.apply(handle, pa.concat_tables(sides), key_columns=key, stamp=stamp)


def test_rows_that_are_wrong_are_written_and_readers_follow(db: StreamTables) -> None:
    spoil(db, "n", "a", 3, wrong=7)
    found = db.verify("n")
    assert (found.missing, found.extra) == (1, 1)
    done = db.repair("n")
    assert (done.mode, done.reason.code) == ("differential", "repair")
    assert (done.rows_inserted, done.rows_deleted) == (1, 1)
    for name in ("n", "high", "rows"):
        assert db.verify(name).equal, name
    again = db.repair("n", way="rows")
    assert again.mode == "no-change"


def test_a_table_below_that_is_wrong_is_mended_first(db: StreamTables) -> None:
    spoil(db, "n", "a", 4, wrong=3)
    spoil(db, "high", "a", 5, wrong=77)
    db.repair("high")
    for name in ("n", "high"):
        assert db.verify(name).equal, name


def test_all_of_a_table_on_request(db: StreamTables) -> None:
    done = db.repair("n", way="table")
    assert done.mode == "full"
    assert db.verify("high").equal
    with pytest.raises(ConfigError):
        db.repair("n", way="somehow")


def test_a_share_is_compared(db: StreamTables) -> None:
    found = db.verify("rows", share=0.5)
    assert (found.equal, found.share) == (True, 0.5)
    spoil(db, "rows", "a", 4, wrong=5)
    found = db.verify("rows")
    assert (found.missing, found.extra) == (15, 15)
    part = db.verify("rows", share=0.5)
    assert 0 < part.missing == part.extra < 15
    for share in (0.0, 1.5, -1.0):
        with pytest.raises(ConfigError):
            db.verify("rows", share=share)
