"""Changes of a table that captured rows do not tell, and that leave it looking the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import AlreadyExistsError, SourceUnusableError
from tests.integration.postgres.versions import needs_server
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    with running_server(fsync="off", full_page_writes="off") as started:
        yield started


@pytest.fixture
def url(own_server: PostgresServer) -> Iterator[str]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(own_server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield own_server.url_of(name)
        # A server has room for a few slots only.
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = %s",
            (name,),
        )


@pytest.fixture
def shop(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def chain(tmp_path: Path, url: str) -> Iterator[Chain]:
    with Chain(tmp_path / "w", url) as opened:
        yield opened


def make_plain(shop: psycopg.Connection) -> None:
    shop.execute("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric(10,2))")
    shop.execute("INSERT INTO t SELECT g, 'row ' || g, g FROM generate_series(1, 9) g")


def make_parts(shop: psycopg.Connection) -> None:
    shop.execute("CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)")
    shop.execute("CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)")
    shop.execute(
        "CREATE TABLE high PARTITION OF t FOR VALUES FROM (10) TO (30) PARTITION BY RANGE (id)"
    )
    shop.execute("CREATE TABLE middle PARTITION OF high FOR VALUES FROM (10) TO (20)")
    shop.execute("CREATE TABLE top PARTITION OF high FOR VALUES FROM (20) TO (30)")
    shop.execute("INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 29) g")


def follows(chain: Chain, shop: psycopg.Connection, statements: Sequence[str]) -> list[str]:
    """Run statements between two drains; return the reasons for which the table was copied."""
    shop.execute("DELETE FROM t WHERE id = 1")
    assert chain.drain() == {}
    for statement in statements:
        shop.execute(statement)
    assert chain.drain() == {}
    assert chain.mirror("t") == rows_of(shop, "t")
    copied = [reason for kind, reason in chain.reasons("t") if kind == "copied"]
    shop.execute("INSERT INTO t (id) VALUES (5) ON CONFLICT (id) DO UPDATE SET v = 'last'")
    assert chain.drain() == {}
    assert chain.mirror("t") == rows_of(shop, "t")
    assert [kind for kind, _ in chain.reasons("t")].count("copied") == len(copied)
    return copied


REWRITE = "ALTER TABLE t ALTER n TYPE numeric(10,2) USING n + 1"
OF_PLAIN = {
    "a column under the name and the place of another": (
        ["ALTER TABLE t DROP COLUMN n, ADD COLUMN n numeric(10,2) DEFAULT 7"],
        'its column "n"',
    ),
    "a column made again beside a change": (
        [
            "UPDATE t SET n = 0 WHERE id = 2",
            "ALTER TABLE t DROP COLUMN n",
            "ALTER TABLE t ADD COLUMN n numeric(10,2)",
            "UPDATE t SET n = 8 WHERE id = 3",
        ],
        'its column "n"',
    ),
    "rows rewritten after a truncation": (
        ["TRUNCATE t", "INSERT INTO t VALUES (1, 'x', 1)", REWRITE],
        "rewritten",
    ),
    "rows rewritten after a truncation, in one transaction": (
        [f"BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 'x', 1); {REWRITE}; COMMIT"],
        "rewritten",
    ),
}


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("what", OF_PLAIN)
def test_a_table_that_looks_as_it_did_is_copied_with_the_reason(
    chain: Chain, shop: psycopg.Connection, capture: str, what: str
) -> None:
    statements, said = OF_PLAIN[what]
    make_plain(shop)
    chain.add("t", capture=capture)
    [reason] = follows(chain, shop, statements)
    assert said in reason


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_another_expression_after_a_truncation_is_noticed(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    needs_server(shop, 18)
    shop.execute(
        "CREATE TABLE t (id int PRIMARY KEY, v text, twice int GENERATED ALWAYS AS (id * 2) STORED)"
    )
    chain.add("t", capture=capture)
    again = "ALTER TABLE t ALTER twice SET EXPRESSION AS (id * 3)"
    statements = ["TRUNCATE t", "INSERT INTO t VALUES (1, 'x')", again]
    assert len(follows(chain, shop, statements)) == 1


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize(
    "statements",
    [
        ["TRUNCATE t"],
        ["TRUNCATE t", "INSERT INTO t VALUES (1, 'x', 1)"],
        ["TRUNCATE t", "INSERT INTO t VALUES (1, 'x', 1)", "TRUNCATE t"],
        ["BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 'x', 1); TRUNCATE t; COMMIT"],
        ["ALTER TABLE t ALTER n SET DEFAULT 3", "ALTER TABLE t ALTER v SET STATISTICS 5"],
        ["VACUUM FREEZE", "ANALYZE t", "GRANT SELECT (v) ON t TO PUBLIC"],
    ],
)
def test_what_captured_changes_tell_needs_no_copy(
    chain: Chain, shop: psycopg.Connection, capture: str, statements: list[str]
) -> None:
    make_plain(shop)
    chain.add("t", capture=capture)
    assert follows(chain, shop, statements) == []


OF_PARTS = {
    "detached, written to, and attached again": [
        "ALTER TABLE t DETACH PARTITION low",
        "INSERT INTO low VALUES (1, 'detached')",
        "DELETE FROM low WHERE id = 2",
        "ALTER TABLE t ATTACH PARTITION low FOR VALUES FROM (0) TO (10)",
    ],
    "a partition of a partition": [
        "ALTER TABLE high DETACH PARTITION top",
        "DELETE FROM top WHERE id = 22",
        "ALTER TABLE high ATTACH PARTITION top FOR VALUES FROM (20) TO (30)",
    ],
    "a partition that has some": [
        "ALTER TABLE t DETACH PARTITION high",
        "UPDATE high SET id = 11, v = 'moved' WHERE id = 22 AND v = 'none'",
        "DELETE FROM high WHERE id = 12",
        "ALTER TABLE t ATTACH PARTITION high FOR VALUES FROM (10) TO (30)",
    ],
    "emptied by itself after all were": [
        "TRUNCATE t",
        "INSERT INTO t VALUES (1, 'a'), (11, 'b'), (21, 'c')",
        "TRUNCATE low",
    ],
    "emptied by itself after all were, in one transaction": [
        "BEGIN; TRUNCATE t; INSERT INTO t VALUES (1, 'a'), (11, 'b'); TRUNCATE middle; COMMIT",
    ],
}


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("what", OF_PARTS)
def test_a_partition_that_came_back_or_was_emptied_leads_to_a_copy(
    chain: Chain, shop: psycopg.Connection, capture: str, what: str
) -> None:
    make_parts(shop)
    chain.add("t", capture=capture)
    [reason] = follows(chain, shop, OF_PARTS[what])
    assert "partition" in reason


@pytest.mark.parametrize(
    ("capture", "statements"),
    [
        ("triggers", ["TRUNCATE t", "INSERT INTO t VALUES (1, 'a'), (11, 'b')"]),
        ("triggers", ["TRUNCATE t"]),
        ("wal", ["TRUNCATE t"]),
        ("wal", ["TRUNCATE t", "INSERT INTO t VALUES (1, 'a')", "DELETE FROM t"]),
        ("wal", ["UPDATE t SET id = id + 9 WHERE id = 2"]),
    ],
)
def test_a_partitioned_table_is_emptied_without_a_copy(
    chain: Chain, shop: psycopg.Connection, capture: str, statements: list[str]
) -> None:
    make_parts(shop)
    if "UPDATE" in statements[0]:
        shop.execute("DELETE FROM t WHERE id = 11")
    chain.add("t", capture=capture)
    assert follows(chain, shop, statements) == []


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("make", [make_plain, make_parts])
def test_a_shape_that_an_older_release_kept_asks_for_no_copy(
    chain: Chain, shop: psycopg.Connection, capture: str, make: object
) -> None:
    assert callable(make)
    make(shop)
    chain.add("t", capture=capture)
    [known] = chain.catalog.captures().values()
    said = json.loads(known.shape)
    older = {key: said[key] for key in ("columns", "key", "identity", "files")}
    chain.catalog.move_capture(replace(known, shape=json.dumps(older)))
    assert follows(chain, shop, ["TRUNCATE t"]) == []
    [known] = chain.catalog.captures().values()
    assert json.loads(known.shape).keys() == said.keys() > older.keys()


@pytest.mark.parametrize(("capture", "copied"), [("triggers", 1), ("wal", 0)])
def test_a_merge_that_moves_rows_between_partitions_is_followed(
    chain: Chain, shop: psycopg.Connection, capture: str, copied: int
) -> None:
    needs_server(shop, 15)
    make_parts(shop)
    shop.execute("DELETE FROM t WHERE id > 10")
    chain.add("t", capture=capture)
    merge = (
        "MERGE INTO t USING (VALUES (2), (3), (77)) s(id) ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = s.id + 20, v = 'moved' "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id - 65, 'new')"
    )
    reasons = follows(chain, shop, ["UPDATE t SET v = 'x' WHERE id = 2", merge])
    assert reasons == ["a MERGE moved rows between partitions"] * copied


def test_a_partitioned_table_that_an_older_release_captured_is_copied_once(
    chain: Chain, shop: psycopg.Connection
) -> None:
    needs_server(shop, 15)
    make_parts(shop)
    chain.add("t", capture="triggers")
    [known] = chain.catalog.captures().values()
    for function in ("begin_insert", "begin_update", "begin_delete", "row_left", "row_came"):
        shop.execute(f"DROP FUNCTION streamtables_capture.{function}_{known.tag} CASCADE")
    shop.execute("UPDATE t SET v = 'y' WHERE id = 2")
    assert chain.drain() == {}
    assert chain.mirror("t") == rows_of(shop, "t")
    assert [reason for kind, reason in chain.reasons("t") if kind == "copied"] == [
        "a capturing trigger was dropped or disabled"
    ]
    shop.execute("UPDATE t SET v = 'z' WHERE id = 2")
    assert chain.drain() == {}
    assert [kind for kind, _ in chain.reasons("t")].count("copied") == 1


def test_triggers_do_not_capture_a_part_of_another_table(
    chain: Chain, shop: psycopg.Connection
) -> None:
    make_parts(shop)
    for capture in ("triggers", "auto"):
        with pytest.raises(SourceUnusableError) as refused:
            chain.add("low", capture=capture)
        assert "low is a part of t" in refused.value.detail
        assert "Capture t" in refused.value.hint
    assert chain.catalog.traces() == []
    chain.add("low", capture="wal")
    shop.execute("UPDATE t SET v = 'through the whole'")
    assert chain.drain() == {}
    assert chain.mirror("low") == rows_of(shop, "low")


def test_a_captured_table_that_becomes_a_part_of_another_stops_with_the_reason(
    chain: Chain, shop: psycopg.Connection
) -> None:
    shop.execute("CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)")
    shop.execute("CREATE TABLE low (id int PRIMARY KEY, v text)")
    chain.add("low", capture="triggers")
    shop.execute("ALTER TABLE t ATTACH PARTITION low FOR VALUES FROM (0) TO (10)")
    shop.execute("INSERT INTO t VALUES (1, 'unseen')")
    errors = chain.drain()
    assert "low is a part of t" in errors["low"].detail
    shop.execute("ALTER TABLE t DETACH PARTITION low")
    assert chain.drain() == {}
    assert chain.mirror("low") == rows_of(shop, "low")


def test_a_whole_and_a_part_of_it_are_not_both_captured(
    chain: Chain, shop: psycopg.Connection
) -> None:
    make_parts(shop)
    chain.add("low", capture="wal")
    for capture in ("triggers", "wal"):
        with pytest.raises(AlreadyExistsError, match='by the source "low"'):
            chain.add("t", capture=capture)
    chain.capture.drop(chain.catalog.source("low"))
    chain.add("t", capture="wal")
    with pytest.raises(AlreadyExistsError, match='by the source "t"'):
        chain.add("low", capture="wal")
    assert [source.name for source in chain.catalog.sources()] == ["t"]
