"""How far the first copy of a PostgreSQL table is, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres import copy_progress
from streamtables.sources.postgres.copy_progress import CopyProgress, expected_rows
from streamtables.sources.postgres.facts import describe_table, find_table
from tests.support.postgres_chain import Chain, copied_by_deltalake, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture
def shop(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def expected(shop: psycopg.Connection, name: str) -> int | None:
    table = describe_table(shop, find_table(shop, name))
    assert table is not None
    return expected_rows(shop, table)


def test_the_rows_that_a_server_expects(shop: psycopg.Connection) -> None:
    shop.execute("CREATE TABLE t (id int) WITH (autovacuum_enabled = off)")
    assert expected(shop, "t") == 0
    shop.execute("INSERT INTO t SELECT generate_series(1, 5000)")
    assert expected(shop, "t") is None
    shop.execute("ANALYZE t")
    assert expected(shop, "t") == 5_000
    shop.execute("INSERT INTO t SELECT generate_series(1, 5000)")
    known = expected(shop, "t")
    assert known is not None
    # More pages than were analysed, as full as those.
    assert abs(known - 10_000) < 300
    shop.execute("TRUNCATE t")
    assert expected(shop, "t") == 0


def test_the_rows_of_partitions_are_expected_together(shop: psycopg.Connection) -> None:
    shop.execute("CREATE TABLE t (id int) PARTITION BY RANGE (id)")
    shop.execute("CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (100)")
    shop.execute("CREATE TABLE high PARTITION OF t FOR VALUES FROM (100) TO (1000)")
    shop.execute("INSERT INTO t SELECT generate_series(0, 299)")
    shop.execute("ANALYZE low")
    assert expected(shop, "t") is None
    shop.execute("ANALYZE high")
    assert expected(shop, "t") == 300


def test_a_copy_is_reported_at_its_begin_on_the_way_and_at_its_end(
    shop: psycopg.Connection, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_progress, "LOOK_SECONDS", 0.01)
    shop.execute("CREATE TABLE t (id int PRIMARY KEY)")
    shop.execute("INSERT INTO t SELECT generate_series(1, 30)")
    shop.execute("ANALYZE t")
    reports: list[CopyProgress] = []
    halfway = Event()

    def report(progress: CopyProgress) -> None:
        reports.append(progress)
        if progress.rows == 10:
            halfway.set()

    def in_two_steps(*arguments: Any, **named: Any) -> Any:
        folder = Path(arguments[3].location)
        folder.mkdir(parents=True)
        part = folder / "part-0.parquet"
        parquet.write_table(pa.table({"id": list(range(10))}), part)
        assert halfway.wait(60)
        part.unlink()
        return copied_by_deltalake(*arguments, **named)

    with Chain(tmp_path / "w", database) as chain:
        chain.capture.copy = in_two_steps
        chain.capture.add("t", database, "t", wish="triggers", report=report)
        assert chain.mirror("t") == rows_of(shop, "t")
        chain.capture.drop(chain.catalog.source("t"))
    assert reports[0] == CopyProgress("public.t", 0, 30, 0.0)
    assert pytest.approx(1 / 3) in [progress.share for progress in reports]
    assert (reports[-1].rows, reports[-1].done) == (30, True)
    assert [progress.done for progress in reports].count(True) == 1
    assert all(a.seconds < b.seconds for a, b in pairwise(reports))


def test_a_copy_that_fails_has_no_end_and_leaves_nothing(
    shop: psycopg.Connection, database: str, tmp_path: Path
) -> None:
    shop.execute("CREATE TABLE t (id int PRIMARY KEY)")
    reports: list[CopyProgress] = []

    def fails(*_: Any, **__: Any) -> Any:
        raise SourceUnusableError("no")

    with Chain(tmp_path / "w", database) as chain:
        chain.capture.copy = fails
        with pytest.raises(SourceUnusableError):
            chain.capture.add("t", database, "t", wish="triggers", report=reports.append)
        assert chain.catalog.sources() == ()
    assert [progress.done for progress in reports] == [False]
    assert not list((tmp_path / "w" / "mirrors").glob("*"))
