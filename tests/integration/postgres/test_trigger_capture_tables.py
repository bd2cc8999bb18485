"""Tables of every kind: partitions, children, generated columns, types, names; and what is left."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from streamtables.errors import SourceUnusableError, TransientError
from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.server import SCHEMA, Server
from tests.integration.postgres.trigger_mirror import TAG, Mirror, run
from tests.integration.postgres.versions import needs_server

pytestmark = pytest.mark.postgres


@pytest.fixture
def parts(database: str) -> Mirror:
    """A partitioned table; the second partition's columns stand in another order."""
    run(
        database,
        "CREATE TABLE sales (id int, region text, n int) PARTITION BY LIST (region)",
        "CREATE TABLE sales_eu PARTITION OF sales FOR VALUES IN ('eu')",
        "CREATE TABLE sales_us (dropped int, n int, region text, id int)",
        "ALTER TABLE sales_us DROP COLUMN dropped",
        "ALTER TABLE sales ATTACH PARTITION sales_us FOR VALUES IN ('us')",
        "CREATE TABLE sales_rest PARTITION OF sales DEFAULT PARTITION BY RANGE (id)",
        "CREATE TABLE sales_rest_1 PARTITION OF sales_rest DEFAULT",
        "INSERT INTO sales SELECT n, (ARRAY['eu', 'us', 'asia'])[1 + n % 3], 0 "
        "FROM generate_series(1, 12) n",
    )
    return Mirror(database, "public.sales")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sales VALUES (20, 'eu', 1), (21, 'us', 1), (22, 'mars', 1)",
        "INSERT INTO sales_us (id, region, n) VALUES (23, 'us', 1)",
        "INSERT INTO sales_rest VALUES (24, 'mars', 1)",
        "INSERT INTO sales_rest_1 VALUES (25, 'mars', 1)",
        "UPDATE sales SET n = n + 1",
        "UPDATE sales_us SET n = n + 1",
        "UPDATE sales_rest SET n = n + 1",
        "UPDATE sales SET region = CASE region WHEN 'eu' THEN 'us' ELSE 'eu' END, n = n + 1",
        "UPDATE sales SET region = 'venus' WHERE region = 'eu'",
        "DELETE FROM sales WHERE id < 6",
        "DELETE FROM sales_eu",
        "MERGE INTO sales USING (VALUES (1, 'us'), (99, 'eu')) s(id, region) ON sales.id = s.id "
        "WHEN MATCHED THEN UPDATE SET region = s.region "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.region, 9)",
        "TRUNCATE sales",
        "BEGIN; TRUNCATE sales; INSERT INTO sales_us VALUES (1, 'us', 26); COMMIT",
    ],
)
def test_writes_through_a_parent_or_a_partition_are_captured_once(parts: Mirror, statement: str):
    run(parts.url, statement)
    parts.drain()
    assert parts.drain() == []


SUPPRESS = (
    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql "
    "AS 'BEGIN IF NEW.id % 2 = 1 THEN RETURN NULL; END IF; RETURN NEW; END'",
    "CREATE TRIGGER refuse BEFORE INSERT ON sales_us FOR EACH ROW EXECUTE FUNCTION refuse()",
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sales SET region = 'us' WHERE region = 'eu'",
        "UPDATE sales SET region = 'us' WHERE region = 'eu' AND id = 3",
        "UPDATE sales SET region = 'us' WHERE region <> 'us'",
        "UPDATE sales SET region = CASE WHEN id < 7 THEN 'us' ELSE 'eu' END, n = n + 1",
        "INSERT INTO sales SELECT n, 'us', 0 FROM generate_series(20, 29) n",
    ],
)
def test_a_row_that_its_new_partition_refuses_is_gone(parts: Mirror, statement: str):
    run(parts.url, *SUPPRESS, statement)
    parts.drain()


@pytest.mark.parametrize("emptied", ["sales_eu", "sales_rest", "sales_rest_1"])
def test_a_partition_emptied_by_itself_asks_for_a_new_copy(parts: Mirror, emptied: str):
    run(parts.url, "DELETE FROM sales WHERE id = 1", f"TRUNCATE {emptied}")
    (batch,) = parts.peek()
    assert "partition was emptied" in (batch.unexplained or "")
    run(parts.url, "TRUNCATE sales", "INSERT INTO sales VALUES (1, 'eu', 1)")
    assert [batch.cleared for batch in parts.drain()] == [True]


def test_a_new_partition_is_known_to_lack_triggers_until_they_are_put_on_it(parts: Mirror):
    run(parts.url, "CREATE TABLE sales_asia PARTITION OF sales FOR VALUES IN ('mars')")
    with Server(parts.url).connected("test") as connection:
        now = describe_table(connection, parts.table.oid)
        assert now is not None
        oids = {now.oid, *(partition.oid for partition in now.partitions)}
        added = find_table(connection, "public.sales_asia")
        assert oids - triggers.installed_on(connection, TAG) == {added}
        with pytest.raises(TransientError):
            triggers.install(connection, parts.table, TAG)
        triggers.install(connection, now, TAG)
        assert oids == triggers.installed_on(connection, TAG)
    run(parts.url, "INSERT INTO sales_asia VALUES (1, 'mars', 1)")
    parts.drain()


def test_children_by_inheritance_are_captured_and_a_truncate_of_one_asks_for_a_copy(database: str):
    run(
        database,
        "CREATE TABLE animals (id int, name text)",
        "CREATE TABLE cats (lives int) INHERITS (animals)",
        "INSERT INTO cats VALUES (1, 'tom', 9)",
    )
    mirror = Mirror(database, "public.animals")
    run(
        database,
        "INSERT INTO cats VALUES (2, 'kit', 9)",
        "UPDATE animals SET name = upper(name)",
        "INSERT INTO animals VALUES (3, 'dog')",
        "DELETE FROM cats WHERE id = 1",
    )
    mirror.drain()
    run(database, "TRUNCATE ONLY animals")
    (batch,) = mirror.peek()
    assert batch.unexplained


def test_generated_columns_are_captured_with_their_values(database: str):
    needs_server(database, 18)  # virtual columns
    run(
        database,
        "CREATE TABLE boxes (id int PRIMARY KEY, w int, h int, found int, "
        "area int GENERATED ALWAYS AS (w * h) STORED, "
        "said text GENERATED ALWAYS AS (upper('{' || w::text || '%s}' || found::text)) VIRTUAL)",
        "INSERT INTO boxes VALUES (1, 2, 3, 4)",
    )
    mirror = Mirror(database, "public.boxes")
    run(database, "INSERT INTO boxes VALUES (2, 4, 5, 6)")
    mirror.drain()
    run(database, "UPDATE boxes SET w = w + 1")
    (batch,) = mirror.drain()
    assert batch.changed == frozenset(("w", "area", "said"))
    run(database, "DELETE FROM boxes WHERE id = 1")
    mirror.drain()
    run(database, "ALTER TABLE boxes ALTER COLUMN said SET EXPRESSION AS (w::text)")
    run(database, "INSERT INTO boxes VALUES (3, 4, 5, 6)")
    (batch,) = mirror.peek()
    assert batch.unexplained


def test_names_that_our_own_words_could_be_mistaken_for_are_captured(database: str):
    names = ["tg_relid", "found", "relation", "known", "o", "n", "t", "half", 'a"b', "A%sb[0]", "p"]
    columns = sql.SQL(", ").join(sql.SQL("{} int").format(sql.Identifier(name)) for name in names)
    with psycopg.connect(database, autocommit=True) as connection:
        table = sql.Identifier('Odd "name"')
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        oid = connection.execute("SELECT max(oid)::int8 FROM pg_class WHERE relkind = 'r'")
        (number,) = oid.fetchone() or (0,)
        found = describe_table(connection, number)
        assert found is not None
        mirror = Mirror(database, str(found.identifier.as_string(None)))
        values = sql.SQL(", ").join(map(sql.Literal, range(len(names))))
        connection.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(table, values))
        connection.execute(sql.SQL("UPDATE {} SET found = 77, tg_relid = 78").format(table))
        connection.execute(sql.SQL("DELETE FROM {} WHERE o = 99").format(table))
    assert [batch.count for batch in mirror.drain()] == [3]


@pytest.mark.parametrize(
    ("shown", "before", "after"),
    [
        ("numeric", "1.0", "1.00"),
        ("float8", "0", "-0"),
        ("interval", "1 day", "24 hours"),
        ("jsonb", '{"a": 1.0}', '{"a": 1.00}'),
        ("json", '{"a":1}', '{"a": 1}'),
        ("bytea", r"\x00", r"\x0000"),
        ("int[]", "{1,NULL}", "{1}"),
        ("mood", "sad", "happy"),
        ("mood[]", "{sad}", "{sad,happy}"),
        ("pair", "(1,2020-01-01)", "(1,2020-01-02)"),
        ("pair", "(,)", None),
        ("short", "a", "b"),
    ],
)
def test_values_that_differ_to_a_reader_count_as_changed(
    database: str, shown: str, before: str, after: str | None
):
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TYPE pair AS (a int, b date)",
        "CREATE DOMAIN short AS varchar(3) CHECK (value <> 'no')",
        f"CREATE TABLE typed (id int PRIMARY KEY, same text, v {shown})",
    )
    with psycopg.connect(database, autocommit=True) as connection:
        # What a writer sets must not reach the texts that we store.
        connection.execute("SET DateStyle = 'German'")
        triggers_on = describe_table(connection, find_table(connection, "public.typed"))
        assert triggers_on is not None
        triggers.install(connection, triggers_on, TAG)
        connection.execute("INSERT INTO typed VALUES (1, 's', %s)", (before,))
        connection.execute("UPDATE typed SET v = %s, same = 's'", (after,))
        connection.execute("SET DateStyle = 'ISO'")
        found = connection.execute(
            f"SELECT __st_action::text, __st_changed::text, v::text FROM {SCHEMA}.changes_{TAG} "
            "ORDER BY __st_seq"
        ).fetchall()
        stored = connection.execute("SELECT v::text FROM typed").fetchone()
    assert [row[:2] for row in found] == [("I", None), ("D", "001"), ("I", "001")]
    assert (found[2][2],) == stored
    assert found[1][2] == found[0][2] != found[2][2]


def test_the_owner_of_a_type_can_drop_it_while_the_table_is_captured(database: str):
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TABLE people (id int PRIMARY KEY, feels mood)",
    )
    Mirror(database, "public.people")
    run(database, "DROP TABLE people", "DROP TYPE mood")


def test_removal_leaves_nothing_behind(parts: Mirror):
    with Server(parts.url).connected("test") as connection:
        triggers.remove(connection, TAG)
        assert triggers.installed_on(connection, TAG) == set()
        assert triggers.tags(connection) == []
        left = connection.execute(
            "SELECT count(*) FROM pg_trigger WHERE tgname LIKE %s", (f"%{TAG}%",)
        ).fetchone()
        objects = connection.execute(
            "SELECT count(*) FROM pg_depend d JOIN pg_namespace n ON n.oid = d.refobjid "
            "AND d.refclassid = 'pg_namespace'::regclass WHERE n.nspname = %s",
            (SCHEMA,),
        ).fetchone()
        triggers.remove(connection, TAG)
    assert left == objects == (0,)
    run(parts.url, "INSERT INTO sales VALUES (1, 'eu', 1)", "TRUNCATE sales_eu")


def test_a_capture_whose_table_is_gone_is_an_orphan_and_can_be_removed(parts: Mirror):
    with Server(parts.url).connected("test") as connection:
        assert triggers.orphans(connection) == []
        connection.execute("DROP TABLE sales")
        assert triggers.orphans(connection) == [TAG]
        triggers.remove(connection, TAG)
        assert triggers.orphans(connection) == []


def test_a_trigger_that_is_disabled_or_not_always_enabled_is_noticed(parts: Mirror):
    with Server(parts.url).connected("test") as connection:
        connection.execute(f"ALTER TABLE sales_eu DISABLE TRIGGER __st_{TAG}_update")
        connection.execute(f"ALTER TABLE sales_us ENABLE TRIGGER __st_{TAG}_delete")
        missing = {p.oid for p in parts.table.partitions} - triggers.installed_on(connection, TAG)
        names = {p.name for p in parts.table.partitions if p.oid in missing}
    assert names == {"sales_eu", "sales_us"}


def test_a_role_without_rights_is_told_all_that_is_missing(database: str):
    run(
        database,
        "CREATE TABLE owned (id int)",
        "DROP ROLE IF EXISTS watcher",
        "CREATE ROLE watcher LOGIN",
    )
    url = database.replace("postgres@", "watcher@")
    with Server(url).connected("test") as connection:
        found = describe_table(connection, find_table(connection, "public.owned"))
        assert found is not None
        with pytest.raises(SourceUnusableError) as raised:
            triggers.install(connection, found, TAG)
    assert "GRANT postgres TO watcher;" in raised.value.hint
    assert "GRANT CREATE ON DATABASE" in raised.value.hint
    run(database, "DROP OWNED BY watcher", "DROP ROLE watcher")


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE UNLOGGED TABLE refused (id int)"],
        ["CREATE TABLE refused (id int, __st_seq int)"],
        ["CREATE TABLE refused ()"],
        ["CREATE VIEW refused AS SELECT 1 AS id"],
    ],
)
def test_tables_that_triggers_cannot_follow_are_refused(database: str, statements: list[str]):
    run(database, *statements)
    with Server(database).connected("test") as connection:
        found = describe_table(connection, find_table(connection, "public.refused"))
        assert found is not None
        with pytest.raises(SourceUnusableError):
            triggers.install(connection, found, TAG)
        assert triggers.tags(connection) == []


def test_writers_need_no_rights_on_the_buffer_and_cannot_call_our_functions(database: str):
    run(
        database,
        "CREATE TABLE shared (id int)",
        "DROP ROLE IF EXISTS writer",
        "CREATE ROLE writer LOGIN",
        "GRANT INSERT, SELECT ON shared TO writer",
    )
    mirror = Mirror(database, "public.shared")
    url = database.replace("postgres@", "writer@")
    run(url, "INSERT INTO shared VALUES (1)")
    assert [batch.count for batch in mirror.drain()] == [1]
    with psycopg.connect(database) as connection:
        allowed = connection.execute(
            "SELECT has_schema_privilege('writer', %s, 'USAGE'), "
            "has_function_privilege('writer', %s, 'EXECUTE')",
            (SCHEMA, f"{SCHEMA}.insert_{TAG}()"),
        ).fetchone()
    assert allowed == (False, False)
    run(database, "DROP OWNED BY writer", "DROP ROLE writer")
