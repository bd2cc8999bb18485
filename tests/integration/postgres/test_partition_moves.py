"""Rows that statements of every kind move between partitions, as triggers see them."""

from __future__ import annotations

import random

import psycopg
import pytest

from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.server import SCHEMA, Server
from tests.integration.postgres.trigger_mirror import TAG, Mirror, run
from tests.integration.postgres.versions import needs_server

pytestmark = pytest.mark.postgres

LAST = [
    "INSERT INTO sales VALUES (90, 'us', 1), (91, 'asia', 1)",
    "UPDATE sales SET region = 'eu', n = n + 1 WHERE id > 80",
    "DELETE FROM sales WHERE id = 90",
]


def parts_of(url: str, key: str = "") -> Mirror:
    needs_server(url, 15)  # MERGE
    run(
        url,
        f"CREATE TABLE sales (id int, region text, n int{key}) PARTITION BY LIST (region)",
        "CREATE TABLE sales_eu PARTITION OF sales FOR VALUES IN ('eu')",
        "CREATE TABLE sales_us (dropped int, n int, region text NOT NULL, id int NOT NULL)",
        "ALTER TABLE sales_us DROP COLUMN dropped",
        "ALTER TABLE sales ATTACH PARTITION sales_us FOR VALUES IN ('us')",
        "CREATE TABLE sales_rest PARTITION OF sales DEFAULT PARTITION BY RANGE (id)",
        "CREATE TABLE sales_rest_1 PARTITION OF sales_rest DEFAULT",
        "CREATE TABLE sales_rest_2 PARTITION OF sales_rest FOR VALUES FROM (-99) TO (0)",
        "INSERT INTO sales SELECT n, (ARRAY['eu', 'us', 'asia'])[1 + n % 3], 0 "
        "FROM generate_series(1, 12) n",
        "CREATE TABLE beside (id int)",
        "INSERT INTO beside VALUES (1), (2)",
    )
    return Mirror(url, "public.sales")


@pytest.fixture
def parts(database: str) -> Mirror:
    """A partitioned table without a key; the columns of one partition stand in another order."""
    return parts_of(database)


def marked(mirror: Mirror) -> bool:
    """Whether the next drain says why the table has to be copied; it is right in any case."""
    batches = mirror.peek()
    reasons = {batch.unexplained for batch in batches} - {None}
    if reasons:
        assert reasons == {"a MERGE moved rows between partitions"}
        assert len(batches) == 1
        mirror.copy_anew()
    mirror.drain()
    return bool(reasons)


def goes_on(mirror: Mirror) -> None:
    """Later statements are captured as ever, also in the transaction that moved rows."""
    for statement in LAST:
        run(mirror.url, statement)
        mirror.drain()
    with psycopg.connect(mirror.url) as connection:
        left = connection.execute(
            "SELECT string_agg(current_setting('streamtables.' || n || '_' || %s, true), '') "
            "FROM unnest(ARRAY['under_way', 'moved', 'left', 'came', 'debt']) n",
            (TAG,),
        ).fetchone()
    assert left in ((None,), ("",))


USING = (
    "MERGE INTO sales USING (VALUES (1, 'eu'), (2, 'eu'), (3, 'eu'), (4, 'us'), (50, 'mars')) "
    "s(id, region) ON sales.id = s.id "
)
MOVE = "WHEN MATCHED THEN UPDATE SET region = s.region, n = n + 1 "
COME = "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.region, 9) "
STAY = "WHEN MATCHED THEN UPDATE SET n = n + 1 "
GO = "WHEN MATCHED AND s.id = 3 THEN DELETE "
LOST = {
    "a MERGE that moves": USING + MOVE,
    "a MERGE that moves every row": USING.replace("(3, 'eu'), (4, 'us'), ", "") + MOVE,
    "a MERGE that moves and inserts": USING + MOVE + COME,
    "a MERGE that moves and deletes": USING + GO + MOVE,
    "a MERGE that could delete, and moves": USING + GO.replace("3", "7") + MOVE,
    "a MERGE of a partition that has some": (
        "MERGE INTO sales_rest USING (VALUES (2)) s(id) ON sales_rest.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = -s.id"
    ),
    "a MERGE in a function": (
        "DO $$BEGIN " + USING + MOVE + "; UPDATE sales SET n = n + 1; END$$"
    ),
    "a MERGE before an UPDATE that moves": (
        f"BEGIN; {USING + MOVE}; UPDATE sales SET region = 'us' WHERE id = 1; COMMIT"
    ),
    "a MERGE after one that is undone": (
        f"BEGIN; SAVEPOINT a; {USING + MOVE}; ROLLBACK TO a; {USING + MOVE}; COMMIT"
    ),
    "a MERGE and what it would have inserted": (
        f"BEGIN; {USING + GO + MOVE}; INSERT INTO sales VALUES (1, 'eu', 1); COMMIT"
    ),
    "a MERGE beside an UPDATE": (
        "WITH u AS (UPDATE sales SET region = 'mars' WHERE id IN (5, 6) RETURNING id) " + USING + MOVE
    ),
    "a MERGE beside a DELETE": (
        "WITH u AS (DELETE FROM sales WHERE id IN (5, 6) RETURNING id) " + USING + MOVE
    ),
    "a MERGE that inserts beside a DELETE": (
        "WITH u AS (DELETE FROM sales WHERE id IN (5, 6) RETURNING id) " + USING + MOVE + COME
    ),
    "a MERGE that deletes beside an INSERT": (
        "WITH u AS (INSERT INTO sales VALUES (70, 'eu', 1), (71, 'us', 1) RETURNING id) "
        + USING + GO + MOVE
    ),
    "a MERGE in a repeatable read": (
        f"BEGIN ISOLATION LEVEL REPEATABLE READ; {USING + MOVE}; COMMIT"
    ),
}  # fmt: skip
SEEN = {
    "an UPDATE": "UPDATE sales SET region = 'us' WHERE region = 'eu'",
    "an UPDATE that exchanges": (
        "UPDATE sales SET region = CASE region WHEN 'eu' THEN 'us' ELSE 'eu' END"
    ),
    "a MERGE that names all": USING + GO + MOVE + COME,
    "a MERGE that names all, and only moves": (
        USING.replace(", (50, 'mars')", "") + GO.replace("3", "7") + MOVE + COME
    ),
    "a MERGE without moves": USING + STAY,
    "a MERGE without moves that inserts": USING + STAY + COME,
    "a MERGE without moves that deletes": USING + GO + STAY,
    "a MERGE without moves that does all": USING + GO + STAY + COME,
    "an INSERT with an ON CONFLICT": (
        "INSERT INTO sales_eu VALUES (1, 'eu', 1) ON CONFLICT DO NOTHING"
    ),
    "an UPDATE of a partition": "UPDATE sales_us SET n = n + 1",
    "an UPDATE beside a DELETE": (
        "WITH u AS (UPDATE sales SET region = 'us' WHERE id < 4 RETURNING id) "
        "DELETE FROM sales WHERE id IN (SELECT id + 6 FROM u)"
    ),
    "a MERGE that is undone": f"BEGIN; SAVEPOINT a; {USING + MOVE}; ROLLBACK TO a; COMMIT",
    "several statements": (
        "BEGIN; UPDATE sales SET region = 'us' WHERE region = 'eu'; DELETE FROM sales WHERE id = 1; "
        f"{USING + GO + STAY + COME}; INSERT INTO sales VALUES (1, 'eu', 1); "
        "UPDATE sales SET region = 'eu' WHERE region = 'us'; COMMIT"
    ),
    "an UPDATE in a repeatable read": (
        "BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE sales SET region = 'us'; COMMIT"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_moves_that_triggers_do_not_see_are_marked(parts: Mirror, what: str):
    run(parts.url, LOST[what])
    assert marked(parts)
    goes_on(parts)


@pytest.mark.parametrize("what", SEEN)
def test_moves_that_triggers_see_are_captured(parts: Mirror, what: str):
    run(parts.url, SEEN[what])
    assert not marked(parts)
    goes_on(parts)


def test_values_of_every_kind_are_compared(database: str):
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TABLE typed (k int, b bytea, j json, m mood, f float8, a text[], p point, "
        "c char(4), t timestamptz) PARTITION BY LIST (k)",
        "CREATE TABLE typed_1 PARTITION OF typed FOR VALUES IN (1)",
        "CREATE TABLE typed_2 PARTITION OF typed FOR VALUES IN (2)",
    )
    mirror = Mirror(database, "public.typed")
    values = [
        (1, b"\0\1", '{"a" : 1}', "sad", 0.1, ["a", None], "(1,2)", "c", "2026-01-01"),
        (1,) + (None,) * 8,
    ]
    with psycopg.connect(database, autocommit=True) as connection:
        for row in values:
            connection.execute(
                "INSERT INTO typed VALUES (%s, %s, %s, %s, %s, %s, %s::point, %s, %s)", row
            )
            connection.execute("SET extra_float_digits = 0")
            connection.execute("UPDATE typed SET k = 3 - k")
            assert not marked(mirror)
        needs_server(connection, 15)
        connection.execute(
            "MERGE INTO typed USING (VALUES (1)) s(n) ON true WHEN MATCHED THEN UPDATE SET k = 1"
        )
    assert marked(mirror)


def test_an_upsert_of_a_table_with_a_key_is_captured(database: str):
    run(
        database,
        "CREATE TABLE keyed (id int PRIMARY KEY, n int) PARTITION BY HASH (id)",
        "CREATE TABLE keyed_0 PARTITION OF keyed FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
        "CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
    )
    mirror = Mirror(database, "public.keyed")
    for turn in range(2):
        run(
            database,
            "INSERT INTO keyed SELECT n, 0 FROM generate_series(1, 20) n "
            "ON CONFLICT (id) DO UPDATE SET n = keyed.n + 1",
            f"UPDATE keyed SET id = id + {31 + 40 * turn} WHERE id IN (7, 8)",
        )
        assert [batch.unexplained for batch in mirror.drain()] == [None]


NESTED = {
    "an UPDATE that moves, in one that stays": (
        "BEFORE UPDATE ON sales_eu FOR EACH ROW",
        "UPDATE sales SET region = 'us' WHERE region = 'asia' AND id = 2; RETURN NEW;",
        "UPDATE sales SET n = n + 1 WHERE region = 'eu'",
        True,  # In doubt: the enclosing statement could be a MERGE.
    ),
    "a MERGE in an UPDATE": (
        "BEFORE UPDATE ON sales_eu FOR EACH ROW",
        "MERGE INTO sales USING beside ON sales.id = beside.id + 10 AND sales.region = 'asia' "
        "WHEN MATCHED THEN UPDATE SET region = 'us'; RETURN NEW;",
        "UPDATE sales SET n = n + 1 WHERE region = 'eu'",
        True,
    ),
    "a MERGE in an INSERT": (
        "BEFORE INSERT ON sales_eu FOR EACH ROW",
        "MERGE INTO sales USING beside ON sales.id = beside.id AND sales.region <> 'mars' "
        "WHEN MATCHED AND false THEN DELETE WHEN MATCHED THEN UPDATE SET region = 'mars'; "
        "RETURN NEW;",
        "INSERT INTO sales VALUES (30, 'eu', 1), (31, 'eu', 1)",
        True,
    ),
    "a DELETE in an UPDATE that moves": (
        "BEFORE UPDATE ON sales_eu FOR EACH ROW",
        "DELETE FROM sales WHERE region = 'asia'; RETURN NEW;",
        "UPDATE sales SET region = 'us' WHERE region = 'eu'",
        False,
    ),
    "an UPDATE after each row that came": (
        "AFTER INSERT ON sales_us FOR EACH ROW",
        "UPDATE sales SET n = n + 1 WHERE region = 'asia'; RETURN NULL;",
        "UPDATE sales SET region = 'us' WHERE region = 'eu'",
        False,
    ),
    "a MERGE after a statement": (
        "AFTER UPDATE ON sales FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)",
        "MERGE INTO sales USING beside ON sales.id = beside.id "
        "WHEN MATCHED THEN UPDATE SET region = 'mars'; RETURN NULL;",
        "UPDATE sales SET region = 'us' WHERE region = 'eu'",
        True,
    ),
    "a MERGE before a statement": (
        "BEFORE INSERT ON sales FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)",
        "MERGE INTO sales USING beside ON sales.id = beside.id WHEN MATCHED AND false THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET region = 'mars'; RETURN NULL;",
        "INSERT INTO sales VALUES (1, 'mars', 0), (2, 'mars', 0)",
        True,
    ),
}


@pytest.mark.parametrize("what", NESTED)
def test_statements_within_others_are_told_apart(parts: Mirror, what: str):
    when, body, statement, expected = NESTED[what]
    run(
        parts.url,
        f"CREATE FUNCTION nested() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {body} END$$",
        f"CREATE TRIGGER nested {when} EXECUTE FUNCTION nested()",
        statement,
    )
    assert marked(parts) == expected
    table = "sales" if "STATEMENT" in when else when.split()[3]
    run(parts.url, f"DROP TRIGGER nested ON {table}")
    goes_on(parts)


@pytest.mark.parametrize("deletes", ["", "WHEN MATCHED AND false THEN DELETE "])
def test_a_row_that_a_merge_moves_and_its_partition_refuses_is_noticed(parts: Mirror, deletes: str):
    run(
        parts.url,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER refuse BEFORE INSERT ON sales_eu FOR EACH ROW EXECUTE FUNCTION refuse()",
        USING + deletes + MOVE,
    )
    # Where rows are deleted as well, all that happened is told.
    assert marked(parts) == (deletes == "")


@pytest.mark.parametrize("seed", range(6))
def test_random_statements_never_leave_a_wrong_row(parts: Mirror, seed: int):
    chosen = random.Random(seed)
    regions = ("eu", "us", "asia", "mars")

    def some() -> str:
        return f"id % {chosen.randint(2, 5)} = {chosen.randint(0, 1)}"

    def statement() -> str:
        region = chosen.choice(regions)
        n = chosen.randint(1, 15)
        actions = [
            chosen.choice(["", f"WHEN MATCHED AND sales.{some()} THEN DELETE "]),
            chosen.choice(["", "WHEN MATCHED THEN UPDATE SET region = s.region "]),
            chosen.choice(["", "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.region, 1) "]),
        ]
        actions = actions if any(actions) else ["WHEN MATCHED THEN DO NOTHING"]
        return chosen.choice(
            [
                f"INSERT INTO sales VALUES ({n}, '{region}', 0), ({n}, '{region}', 0)",
                f"UPDATE sales SET region = '{region}' WHERE {some()}",
                f"UPDATE sales SET n = n + 1 WHERE {some()}",
                f"DELETE FROM sales WHERE {some()} AND n = 1",
                "MERGE INTO sales USING (SELECT n AS id, (ARRAY['eu', 'us', 'asia'])[1 + n % 3] AS "
                f"region FROM generate_series({n}, {n + 4}) n) s ON sales.id = s.id "
                + "".join(actions),
            ]
        )

    seen = set()
    for _ in range(25):
        with psycopg.connect(parts.url) as connection:
            for _ in range(chosen.randint(1, 3)):
                connection.execute(statement().encode())
        seen.add(marked(parts))
    assert seen == {True, False}


def test_a_capture_of_an_older_release_is_known_to_lack_these_triggers(parts: Mirror):
    with Server(parts.url).connected("test") as connection:
        assert not triggers.misses(connection, TAG, parts.table)
        for event in ("row_left", "row_came"):
            connection.execute(f"ALTER TABLE sales_eu DISABLE TRIGGER __st_{TAG}_{event}")
            assert triggers.misses(connection, TAG, parts.table)
            connection.execute(f"ALTER TABLE sales_eu ENABLE ALWAYS TRIGGER __st_{TAG}_{event}")
        assert not triggers.misses(connection, TAG, parts.table)
        connection.execute(f"DROP FUNCTION {SCHEMA}.begin_update_{TAG} CASCADE")
        assert triggers.misses(connection, TAG, parts.table)
        triggers.install(connection, parts.table, TAG)
        assert not triggers.misses(connection, TAG, parts.table)
