"""The writer of the load really writes, and says so where it cannot."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from streamtables.demo.postgres_server import running_server
from tests.soak.load import CAPTURED, ROWS, Writer
from tests.support.leaders import wait_for

pytestmark = pytest.mark.postgres


@pytest.fixture
def writer() -> Iterator[Writer]:
    with running_server(fsync="off") as server:
        made = Writer(server.url, rate=600)
        made.make()
        yield made


def test_rows_come_change_and_go_so_that_as_many_stay(writer: Writer) -> None:
    with writer.writing():
        wait_for(lambda: writer.written > 0 or writer.fault is not None, "written")
    assert writer.fault is None
    with psycopg.connect(writer.url) as connection:
        for name in CAPTURED:
            rows, last = connection.execute(f"SELECT count(*), max(id) FROM {name}").fetchone()  # type: ignore[misc]  # it has a row
            assert rows == ROWS
            assert last > ROWS


def test_a_writer_that_cannot_write_ends_and_says_why(writer: Writer) -> None:
    with psycopg.connect(writer.url, autocommit=True) as connection:
        connection.execute("DROP TABLE seen")
    with writer.writing():
        wait_for(lambda: writer.fault is not None, "failed")
    assert 'relation "seen" does not exist' in str(writer.fault)
