"""The fourteen cases of change buffers: where each is tried, and those that nothing else tries.

A buffer holds a row that went (D) and a row that came (I) for each change.  What follows from that
is followed here to the end: from statements on a table, over its buffer and its mirror, to the rows
of queries that DuckDB keeps with the programs of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from streamtables.compiler.plan import compile_sql
from streamtables.engine.change_feed import read_small
from streamtables.engine.names import WEIGHT
from streamtables.positions import Version
from tests.support.bags import Row, bag_of
from tests.support.duckdb_oracle import Change, Database
from tests.support.maintained_table import WAYS, MaintainedTable
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres

HERE = Path(__file__).parent
CASES = {
    "insert, update, delete": (
        "test_trigger_capture.py",
        "test_the_changes_of_statements_lead_to_the_table_one_by_one_and_at_once",
    ),
    "net effect": (
        "test_change_buffer_cases.py",
        "test_what_happened_to_a_row_between_two_drains_is_one_change",
    ),
    "no key": ("test_drains.py", "test_mirrors_follow_their_tables"),
    "a stream table as the source": (
        "test_change_buffer_cases.py",
        "test_a_table_on_a_table_on_a_captured_one_is_kept",
    ),
    "from the WAL": (
        "test_wal_capture.py",
        "test_the_mirror_is_the_table_however_it_was_written",
    ),
    "the mask is the same on both halves": (
        "test_trigger_capture_shapes.py",
        "test_both_halves_of_an_update_have_one_mask_and_all_old_ones_come_first",
    ),
    "readers of different columns": (
        "test_untouched_columns.py",
        "test_two_readers_of_one_window_each_get_what_they_read",
    ),
    "an aggregate": ("test_change_buffer_cases.py", "test_a_query_over_a_captured_table_is_kept"),
    "recursion": ("test_change_buffer_cases.py", "test_a_query_over_a_captured_table_is_kept"),
    "replica identity": ("test_wal_capture.py", "test_every_identity_is_captured_the_way_it_says"),
    "another primary key": (
        "test_untouched_columns.py",
        "test_a_row_with_another_key_is_read_by_those_who_read_the_key",
    ),
    "functions that are behind the table": (
        "test_trigger_capture_shapes.py",
        "test_no_writer_fails_and_the_reader_is_told",
    ),
    "buffers become small again": (
        "test_trigger_capture_transactions.py",
        "test_trimming_leaves_what_a_late_transaction_wrote_before_the_drain",
    ),
    "a buffer of an older release": (
        "test_drain_upgrade.py",
        "test_nothing_is_lost_when_a_drain_meets_an_older_buffer",
    ),
}

COLUMNS = {"id": "int", "parent": "int", "size": "int"}
QUERIES = {
    "aggregate": "SELECT parent, count(*) AS n, sum(size) AS total, max(size) AS most "
    "FROM node GROUP BY parent",
    "aggregate of all": "SELECT count(*) AS n, sum(size) AS total FROM node",
    "recursion": "WITH RECURSIVE t(id, depth) AS (SELECT id, 0 FROM node WHERE parent IS NULL "
    "UNION ALL SELECT node.id, t.depth + 1 FROM t JOIN node ON node.parent = t.id) "
    "SELECT id, depth FROM t",
}
STEPS = (
    "INSERT INTO node VALUES (6, 3, 60), (7, 6, 70)",
    "UPDATE node SET size = size + 1 WHERE id IN (2, 4)",
    # A subtree moves, and a key is another one.
    "UPDATE node SET parent = 3 WHERE id = 2",
    "UPDATE node SET id = 14 WHERE id = 4",
    "DELETE FROM node WHERE id = 3; INSERT INTO node VALUES (3, 1, 33)",
    "DELETE FROM node WHERE parent IS NOT NULL",
    "TRUNCATE node; INSERT INTO node VALUES (1, NULL, 1), (9, 1, 9)",
)


@pytest.mark.parametrize(("file", "test"), CASES.values(), ids=CASES.keys())
def test_every_case_is_tried(file: str, test: str) -> None:
    assert f"\ndef {test}(" in (HERE / file).read_text(encoding="utf-8")


def test_there_are_fourteen() -> None:
    assert len(CASES) == 14


@pytest.fixture
def shop(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE node (id int PRIMARY KEY, parent int, size int)")
        connection.execute(
            "INSERT INTO node VALUES (1, NULL, 10), (2, 1, 20), (3, 1, 30), (4, 2, 40), (5, 4, 50)"
        )
        yield connection
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = current_database()"
        )


@pytest.fixture(params=["triggers", "wal"])
def chain(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    database: str,
    shop: psycopg.Connection[Any],
) -> Iterator[Chain]:
    with Chain(tmp_path / "w", database) as opened:
        opened.add("node", capture=request.param)
        yield opened


def head(chain: Chain) -> Version:
    return chain.capture.pinned(chain.catalog.source("node"))


def drained(chain: Chain) -> list[Change]:
    """Drain, and return what that changed in the mirror."""
    since = head(chain)
    assert chain.drain() == {}
    location = chain.catalog.source("node").location
    found = read_small(location, since, head(chain), columns=tuple(COLUMNS), limit=1_000)
    assert isinstance(found, pa.Table)
    rows = found.select([*COLUMNS, WEIGHT]).to_pylist()
    return [Change(tuple(row[name] for name in COLUMNS), row[WEIGHT]) for row in rows]


class Kept:
    """A query that follows one table in DuckDB, by the programs that the engine runs."""

    def __init__(
        self, query: str, name: str, columns: Mapping[str, str], rows: Sequence[Row]
    ) -> None:
        self.name = name
        self.plan = compile_sql(query, {name: columns})
        self.database = Database({name: columns})
        self.database.fill(name, rows)
        self.database.apply({})
        self.table = MaintainedTable(self.plan, self.database)

    def follow(self, changes: Sequence[Change], turn: int) -> list[Change]:
        """Bring it to the present; return its own changes."""
        self.database.apply({self.name: changes})
        delta = self.table.refresh(frozenset({self.name}), WAYS[turn % len(WAYS)])
        assert self.table.visible() == self.database.evaluate(self.plan)
        return [Change(tuple(row[: self.width]), row[-1]) for row in delta]

    @property
    def width(self) -> int:
        """How many columns people see."""
        return len(self.plan.maintenance.layout.visible)

    @property
    def rows(self) -> list[Row]:
        """The rows that people see."""
        return [tuple(row[: self.width]) for row in self.table.rows]


def test_what_happened_to_a_row_between_two_drains_is_one_change(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    for size in (21, 22, 23):
        shop.execute("UPDATE node SET size = %s WHERE id = 2", (size,))
    shop.execute("INSERT INTO node VALUES (8, 1, 80)")
    shop.execute("DELETE FROM node WHERE id = 8")
    shop.execute("UPDATE node SET size = 99 WHERE id = 5")
    shop.execute("UPDATE node SET size = 50 WHERE id = 5")
    found = sorted((change.row, change.weight) for change in drained(chain))
    assert found == [((2, 1, 20), -1), ((2, 1, 23), 1)]
    assert chain.mirror("node") == rows_of(shop, "node")


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_a_query_over_a_captured_table_is_kept(
    chain: Chain, shop: psycopg.Connection[Any], query: str
) -> None:
    kept = Kept(query, "node", COLUMNS, shop.execute("SELECT * FROM node").fetchall())
    assert kept.plan.incremental
    for turn, statements in enumerate(STEPS):
        shop.execute(statements.encode())
        kept.follow(drained(chain), turn)
        held = bag_of(kept.database.query('SELECT * FROM "after"."node"'))
        assert held == rows_of(shop, "node"), statements


def test_a_table_on_a_table_on_a_captured_one_is_kept(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    first = Kept(
        "SELECT parent, sum(size) AS total FROM node GROUP BY parent",
        "node",
        COLUMNS,
        shop.execute("SELECT * FROM node").fetchall(),
    )
    second = Kept(
        "SELECT count(*) AS n, max(total) AS most FROM sums WHERE total > 20",
        "sums",
        {"parent": "int", "total": "bigint"},
        first.rows,
    )
    for turn, statements in enumerate(STEPS):
        shop.execute(statements.encode())
        second.follow(first.follow(drained(chain), turn), turn)
        assert bag_of(second.database.query('SELECT * FROM "after"."sums"')) == (
            first.table.visible()
        ), statements
