"""Values stored out of line: PostgreSQL does not send them again when an update leaves them alone."""

from __future__ import annotations

import pytest

from tests.integration.postgres.wal_support import Lab, lab, server

pytestmark = pytest.mark.postgres
__all__ = ["lab", "server"]

# Random text does not compress, and 12,000 characters do not fit into a page.
BIG = "(SELECT string_agg(md5(random()::text || i), '') FROM generate_series(1, 375) i)"
TABLES = {
    "key": "CREATE TABLE t (id int PRIMARY KEY, n int, doc text, other text)",
    "index": "CREATE TABLE t (id int NOT NULL, n int, doc text, other text);"
    "CREATE UNIQUE INDEX byid ON t (id); ALTER TABLE t REPLICA IDENTITY USING INDEX byid",
    "full": "CREATE TABLE t (id int, n int, doc text, other text);"
    "ALTER TABLE t REPLICA IDENTITY FULL",
    "partitions": "CREATE TABLE t (id int PRIMARY KEY, n int, doc text, other text)"
    " PARTITION BY RANGE (id);"
    "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (10);"
    "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (MAXVALUE)",
}


@pytest.fixture(params=TABLES, ids=str)
def made(request: pytest.FixtureRequest, lab: Lab) -> Lab:
    rows = ", ".join(f"({number}, 0, {BIG}, {BIG})" for number in (1, 2, 3))
    lab.table(TABLES[request.param], f"INSERT INTO t VALUES {rows}")
    return lab


@pytest.mark.parametrize(
    "statements",
    [
        ("UPDATE t SET n = 1 WHERE id = 1",),
        ("UPDATE t SET n = 1 WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1"),
        (f"UPDATE t SET doc = {BIG} WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1"),
        (f"UPDATE t SET doc = {BIG}, n = 3 WHERE id = 1", f"UPDATE t SET other = {BIG}"),
        ("UPDATE t SET doc = NULL WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1"),
        ("UPDATE t SET doc = 'short' WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1"),
        ("UPDATE t SET id = 20, n = 1 WHERE id = 1",),
        ("UPDATE t SET id = 20 WHERE id = 1", "UPDATE t SET id = 21, n = 4 WHERE id = 20"),
        ("UPDATE t SET id = 9 WHERE id = 1", "UPDATE t SET id = 1 WHERE id = 2"),
        (
            "UPDATE t SET id = 9 WHERE id = 1",
            "UPDATE t SET id = 1 WHERE id = 2",
            "UPDATE t SET id = 2 WHERE id = 9",
            "UPDATE t SET n = n + 1",
        ),
        (f"INSERT INTO t VALUES (5, 0, {BIG}, {BIG})", "UPDATE t SET n = 1 WHERE id = 5"),
        (
            f"BEGIN; INSERT INTO t VALUES (5, 0, {BIG}, {BIG}); UPDATE t SET id = 6 WHERE id = 5;"
            " UPDATE t SET id = 17, n = 4 WHERE id = 6; COMMIT",
        ),
        (
            "DELETE FROM t WHERE id = 1",
            f"INSERT INTO t VALUES (1, 8, {BIG}, NULL)",
            "UPDATE t SET n = 9 WHERE id = 1",
        ),
        ("UPDATE t SET n = 1", "DELETE FROM t WHERE id = 2"),
        (
            "UPDATE t SET n = 1",
            "TRUNCATE t",
            f"INSERT INTO t VALUES (1, 0, {BIG}, {BIG})",
            "UPDATE t SET n = 7",
        ),
    ],
    ids=lambda statements: " / ".join(statements).replace(BIG, "BIG")[:80],
)
@pytest.mark.parametrize("fetch", [1, 1000])
def test_a_value_that_was_not_sent_is_found(
    made: Lab, statements: tuple[str, ...], fetch: int
) -> None:
    made.fetch = fetch
    made.do(*statements)
    made.drain()


def test_only_the_mirror_has_what_an_update_left_alone(made: Lab) -> None:
    made.do("UPDATE t SET n = 1, id = 4 WHERE id = 2")
    made.drain()
    [mirror] = made.mirrors.values()
    unsent = made.only().unsent
    if mirror.table.identity == "f":
        assert unsent == {}
    else:
        assert sorted(unsent) == ["doc", "other"]
        assert unsent["doc"].keys.to_pylist() == [{"id": 2}]
        assert unsent["doc"].rows.tolist() == [0]


def test_a_key_that_is_stored_out_of_line_names_its_row(lab: Lab) -> None:
    name = "(SELECT string_agg(md5(random()::text || i), '') FROM generate_series(1, 70) i)"
    lab.do("CREATE TABLE t (name text PRIMARY KEY, n int)")
    lab.table("ALTER TABLE t ALTER name SET STORAGE EXTERNAL", f"INSERT INTO t VALUES ({name}, 1)")
    lab.do("UPDATE t SET n = 2", "UPDATE t SET n = 3")
    lab.drain()
    assert lab.only().unsent == {}
    lab.do(f"UPDATE t SET name = {name}", "UPDATE t SET n = 4")
    lab.drain()
