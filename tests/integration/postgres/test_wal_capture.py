"""Tables kept by the log: what writers do, and what the mirror has afterwards.

`lab.drain()` compares each mirror with its table at the drain's snapshot, as bags.
"""

from __future__ import annotations

import pytest

from streamtables.sources.postgres.facts import describe_table
from streamtables.sources.postgres.wal import position
from tests.integration.postgres.versions import needs_server
from tests.integration.postgres.wal_support import Lab, lab, server

pytestmark = pytest.mark.postgres
__all__ = ["lab", "server"]

IDENTITIES = {
    "key": "CREATE TABLE t (id int PRIMARY KEY, v text, n bigint)",
    "index": "CREATE TABLE t (id int NOT NULL, v text, n bigint); CREATE UNIQUE INDEX byid ON t (id);"
    "ALTER TABLE t REPLICA IDENTITY USING INDEX byid",
    "full": "CREATE TABLE t (id int, v text, n bigint); ALTER TABLE t REPLICA IDENTITY FULL",
    "two columns": "CREATE TABLE t (id int, v text, n bigint, PRIMARY KEY (v, id))",
    "partitions": "CREATE TABLE t (id int PRIMARY KEY, v text, n bigint) PARTITION BY RANGE (id);"
    "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (5);"
    "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (5) TO (MAXVALUE)",
}
FILL = "INSERT INTO t SELECT i, 'v' || i, 10 * i FROM generate_series(1, 9) i"


@pytest.fixture(params=IDENTITIES, ids=str)
def made(request: pytest.FixtureRequest, lab: Lab) -> Lab:
    lab.table(IDENTITIES[request.param], FILL)
    return lab


@pytest.mark.parametrize(
    "statements",
    [
        ("INSERT INTO t VALUES (11, 'new', NULL), (12, 'other', 1)",),
        ("UPDATE t SET v = v || '!' WHERE id < 4",),
        ("UPDATE t SET n = NULL WHERE id = 1", "UPDATE t SET n = 5, v = 'x' WHERE id = 1"),
        ("DELETE FROM t WHERE id > 4",),
        ("DELETE FROM t", "INSERT INTO t SELECT i, 'again', i FROM generate_series(3, 5) i"),
        ("UPDATE t SET id = id + 100 WHERE id = 3",),
        ("UPDATE t SET id = 100 WHERE id = 3", "UPDATE t SET id = 3 WHERE id = 100"),
        ("UPDATE t SET id = 100 WHERE id = 3", "UPDATE t SET id = 3 WHERE id = 4"),
        ("UPDATE t SET id = -id, v = v || '-'", "UPDATE t SET id = -id WHERE id < -5"),
        ("TRUNCATE t",),
        ("UPDATE t SET v = 'void'", "TRUNCATE t", "INSERT INTO t VALUES (1, 'one', 1)"),
        ("INSERT INTO t VALUES (77, 'a', 1)", "DELETE FROM t WHERE id = 77"),
        ("BEGIN; INSERT INTO t VALUES (77, 'a', 1); UPDATE t SET v = 'b' WHERE id = 77; COMMIT",),
        ("BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 'b', 1); TRUNCATE t; COMMIT",),
        ("BEGIN; DELETE FROM t; INSERT INTO t VALUES (1, 'rolled back', 1); ROLLBACK",),
        (
            "BEGIN; UPDATE t SET n = 1; SAVEPOINT a; DELETE FROM t WHERE id < 5; ROLLBACK TO a;"
            " SAVEPOINT b; UPDATE t SET v = 'kept' WHERE id = 2; RELEASE b; COMMIT",
        ),
        ("BEGIN; DELETE FROM t WHERE id = 4; PREPARE TRANSACTION 'p'", "COMMIT PREPARED 'p'"),
        ("BEGIN; DELETE FROM t WHERE id = 4; PREPARE TRANSACTION 'p'", "ROLLBACK PREPARED 'p'"),
    ],
    ids=lambda statements: " / ".join(statements)[:70],
)
def test_the_mirror_is_the_table_however_it_was_written(
    made: Lab, statements: tuple[str, ...]
) -> None:
    made.do(*statements)
    made.drain()
    assert made.drain().messages == 0, "what is confirmed is not sent again"


def test_changes_of_a_fetch_each_give_the_same(made: Lab) -> None:
    made.fetch = 1
    made.do("UPDATE t SET v = 'a'", "TRUNCATE t", FILL, "UPDATE t SET id = id + 20 WHERE id > 6")
    made.drain()


def test_every_identity_is_captured_the_way_it_says(made: Lab) -> None:
    made.do("UPDATE t SET n = 0 WHERE id = 2")
    made.drain()
    captured = made.only()
    [mirror] = made.mirrors.values()
    if mirror.table.identity == "f":
        assert captured.replaced is None
        assert captured.rows.column("__st_weight").to_pylist() == [-1, 1]
    else:
        assert captured.replaced is not None
        assert captured.replaced.num_rows == captured.rows.num_rows == 1


def test_equal_rows_without_a_key_are_counted(lab: Lab) -> None:
    lab.table("CREATE TABLE t (a int, b text); ALTER TABLE t REPLICA IDENTITY FULL")
    lab.do("INSERT INTO t SELECT 1, NULL FROM generate_series(1, 5)")
    lab.drain()
    lab.do(
        "DELETE FROM t WHERE ctid IN (SELECT ctid FROM t LIMIT 2)", "INSERT INTO t VALUES (1, '')"
    )
    lab.drain()
    [mirror] = lab.mirrors.values()
    assert mirror.rows == {(1, None): 3, (1, ""): 1}


def test_a_stored_generated_column_is_in_the_mirror(lab: Lab) -> None:
    needs_server(lab.writer, 18)
    lab.table(
        "CREATE TABLE t (id int PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED)",
        "INSERT INTO t VALUES (1, 5)",
    )
    lab.do("INSERT INTO t VALUES (2, 7)", "UPDATE t SET a = 6 WHERE id = 1")
    lab.drain()
    [mirror] = lab.mirrors.values()
    assert mirror.rows == {(1, 6, 12): 1, (2, 7, 14): 1}


def test_a_row_that_moves_between_partitions_is_one_row(lab: Lab) -> None:
    lab.table(IDENTITIES["partitions"], FILL)
    lab.do("UPDATE t SET id = 50 WHERE id = 2", "UPDATE t SET id = 2 WHERE id = 9")
    lab.drain()


def test_a_partition_truncated_by_itself_is_not_in_the_log_but_has_another_file(lab: Lab) -> None:
    before = lab.table(IDENTITIES["partitions"], FILL)
    lab.do("TRUNCATE t1")
    [captured] = lab.take(position(lab.reader)).captured.values()
    assert captured.empty
    after = describe_table(lab.reader, before.oid)
    assert after is not None
    files = [
        (a.name, a.filenode != b.filenode)
        for a, b in zip(after.partitions, before.partitions, strict=True)
    ]
    assert files == [("t1", True), ("t2", False)]


def test_a_column_of_a_domain_or_an_enum_is_no_other_column(lab: Lab) -> None:
    lab.do(
        "CREATE DOMAIN small AS int CHECK (VALUE < 10)", "CREATE TYPE mood AS ENUM ('ok', 'sad')"
    )
    lab.table("CREATE TABLE t (id int PRIMARY KEY, s small, m mood)")
    lab.do("INSERT INTO t VALUES (1, 3, 'ok'), (2, NULL, 'sad')")
    lab.drain()
