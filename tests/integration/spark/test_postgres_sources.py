"""PostgreSQL tables as sources, through the whole chain: server, buffer, mirror, stream table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.mirror_merge import merge_spooled
from streamtables.engine.session import SparkSessions
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    InUseError,
    SchemaChangedError,
    SourceMissingError,
    SourceUnusableError,
    TransientError,
)
from streamtables.sources.postgres import mirror, spool
from streamtables.sources.postgres.copy_progress import CopyProgress
from streamtables.sources.postgres.server import Server
from tests.support.bags import bag_of
from tests.support.settings import settings_with
from tests.support.spark_oracle import assert_equal_to_query, refreshed

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

ACCOUNTS = "CREATE TABLE accounts (id int PRIMARY KEY, owner text, balance numeric(12,2) NOT NULL)"
ENTRIES = "CREATE TABLE entries (account int, amount numeric(12,2), note text)"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield server.url_of(name)
        # A server has room for a few slots only.
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = %s",
            (name,),
        )


@pytest.fixture
def shop(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ACCOUNTS)
        connection.execute(ENTRIES)
        connection.execute(
            "INSERT INTO accounts VALUES (1, 'ann', 10), (2, 'bob', 20), (3, NULL, 0)"
        )
        connection.execute("INSERT INTO entries VALUES (1, 10, 'x'), (2, 20, NULL), (2, 20, NULL)")
        yield connection


QUERY = """SELECT a.owner, count(*) AS n, sum(e.amount) AS total
FROM accounts a JOIN entries e ON e.account = a.id GROUP BY a.owner"""


def _add(db: StreamTables, url: str, capture: str = "triggers") -> None:
    db.add_source("accounts", postgres=url, table="public.accounts", capture=capture)
    db.add_source("entries", postgres=url, table="entries", capture=capture)


def _same_as_in_postgres(db: StreamTables, shop: psycopg.Connection, name: str, query: str) -> None:
    assert bag_of(map(tuple, db.read(name).collect())) == bag_of(shop.execute(query).fetchall())


def test_a_stream_table_follows_postgres_tables(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _add(db, url)
    db.create("totals", QUERY)
    refreshed(db, "totals")
    _same_as_in_postgres(db, shop, "totals", QUERY)
    shop.execute("INSERT INTO entries VALUES (3, 5, 'new'), (1, 1, 'y')")
    shop.execute(
        "DELETE FROM entries WHERE ctid = (SELECT min(ctid) FROM entries WHERE account = 2)"
    )
    shop.execute("UPDATE accounts SET owner = 'cleo' WHERE id = 3")
    assert refreshed(db, "totals").mode == "differential"
    _same_as_in_postgres(db, shop, "totals", QUERY)
    shop.execute("UPDATE entries SET note = 'nobody reads this'")
    unread = db.refresh("totals")
    assert unread.mode == "no-change"
    assert any("not read" in note for note in unread.notes)
    shop.execute("TRUNCATE entries")
    shop.execute("INSERT INTO entries VALUES (1, 7, 'after')")
    assert refreshed(db, "totals").mode == "differential"
    _same_as_in_postgres(db, shop, "totals", QUERY)
    assert refreshed(db, "totals").reason.code == "current"


def test_a_transaction_over_two_tables_is_seen_whole_or_not_at_all(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _add(db, url)
    check = "SELECT a.id, a.balance, sum(e.amount) AS total FROM accounts a JOIN entries e ON e.account = a.id GROUP BY a.id, a.balance"
    db.create("checked", check)
    refreshed(db, "checked")
    with psycopg.connect(url) as late, psycopg.connect(url) as early:
        late.execute("INSERT INTO entries VALUES (1, 100, 'late')")
        early.execute("INSERT INTO entries VALUES (2, 5, 'early')")
        early.execute("UPDATE accounts SET balance = balance + 5 WHERE id = 2")
        early.commit()
        refreshed(db, "checked")
        _same_as_in_postgres(db, shop, "checked", check)
        late.execute("UPDATE accounts SET balance = balance + 100 WHERE id = 1")
        assert refreshed(db, "checked").reason.code == "current"
        late.commit()
    refreshed(db, "checked")
    _same_as_in_postgres(db, shop, "checked", check)


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_changes_too_many_for_the_driver_go_through_spark(
    db: StreamTables,
    shop: psycopg.Connection,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    capture: str,
) -> None:
    shop.execute("ALTER TABLE entries REPLICA IDENTITY FULL")
    _add(db, url, capture)
    db.create("totals", QUERY)
    refreshed(db, "totals")
    monkeypatch.setattr(mirror, "SMALL_ROWS", 0)
    merged: list[str] = []

    def noted(*arguments: Any, **more: Any) -> Any:
        merged.append(arguments[2])
        return merge_spooled(*arguments, **more)

    monkeypatch.setattr(mirror, "merge_spooled", noted)
    for statements in (
        [
            "INSERT INTO entries VALUES (3, 5, 'new'), (2, 20, NULL)",
            "UPDATE accounts SET id = id + 10",
        ],
        ["DELETE FROM entries WHERE ctid = (SELECT min(ctid) FROM entries WHERE account = 2)"],
        ["UPDATE accounts SET owner = 'cleo', id = id - 10", "DELETE FROM accounts WHERE id = 2"],
        [
            "TRUNCATE entries, accounts",
            "INSERT INTO accounts VALUES (1, 'ann', 1)",
            "INSERT INTO entries VALUES (1, 7, 'x'), (1, 7, 'x')",
        ],
    ):
        for statement in statements:
            shop.execute(statement)
        refreshed(db, "totals")
        _same_as_in_postgres(db, shop, "totals", QUERY)
        for name in ("accounts", "entries"):
            _mirror_is_the_table(db, shop, name)
    assert len(merged) >= 6


def test_many_rows_with_values_that_the_server_did_not_send_are_completed_by_spark(
    db: StreamTables, shop: psycopg.Connection, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = "(SELECT string_agg(md5(random()::text || i), '') FROM generate_series(1, 375) i)"
    shop.execute("CREATE TABLE docs (id int PRIMARY KEY, n int, doc text, other text)")
    for number in (1, 2, 3):
        shop.execute(f"INSERT INTO docs VALUES ({number}, 0, {big}, {big})")
    db.add_source("docs", postgres=url, table="docs", capture="wal")
    db.create("sizes", "SELECT id, n, length(doc) AS size, other FROM docs")
    refreshed(db, "sizes")
    monkeypatch.setattr(mirror, "SMALL_ROWS", 0)
    monkeypatch.setattr(mirror, "ROWS_MAX", 0)
    monkeypatch.setattr(spool, "MEMORY_BYTES", 0)
    shop.execute("UPDATE docs SET n = 1 WHERE id = 1")
    shop.execute(f"UPDATE docs SET id = 20, doc = {big} WHERE id = 2")
    shop.execute("UPDATE docs SET id = 30 WHERE id = 3")
    shop.execute("UPDATE docs SET id = 3, n = 5 WHERE id = 30")
    refreshed(db, "sizes")
    _mirror_is_the_table(db, shop, "docs")
    [status] = db.wal_source_status()
    assert status.history[0].kind == "drained by Spark"


def test_nobody_but_spark_writes_a_mirror_where_that_is_chosen(
    spark_sessions: SparkSessions, tmp_path: Path, shop: psycopg.Connection, url: str
) -> None:
    settings = settings_with(driver_rows_max=0)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        _add(db, url)
        db.create("totals", QUERY)
        for change in (
            "INSERT INTO entries VALUES (3, 5, 'new'), (1, 1, 'y')",
            "DELETE FROM entries WHERE account = 2",
            "TRUNCATE entries",
        ):
            refreshed(db, "totals")
            shop.execute(change)
        refreshed(db, "totals")
        _same_as_in_postgres(db, shop, "totals", QUERY)
        [entries] = [source for source in db.sources() if source.name == "entries"]
        log = sorted((Path(entries.location) / "_delta_log").glob("*.json"))
        assert len(log) >= 4
        assert all("Apache-Spark" in entry.read_text() for entry in log)
        assert {event.kind for found in db.wal_source_status() for event in found.history} == {
            "added"
        }


def test_the_first_copy_tells_how_far_it_is(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    shop.execute("INSERT INTO accounts SELECT i, 'new', 0 FROM generate_series(4, 50000) i")
    shop.execute("ANALYZE accounts")
    told: list[CopyProgress] = []
    db.add_source("accounts", postgres=url, table="accounts", progress=told.append)
    assert (told[0].table, told[0].rows, told[0].expected) == ("public.accounts", 0, 50_000)
    rows = [progress.rows for progress in told]
    assert rows == sorted(rows, key=lambda many: many or 0)
    assert (told[-1].rows, told[-1].done, told[-1].share) == (50_000, True, 1)
    _mirror_is_the_table(db, shop, "accounts")


def _mirror_is_the_table(db: StreamTables, shop: psycopg.Connection, name: str) -> None:
    [source] = [item for item in db.sources() if item.name == name]
    columns = [column.name for column in source.columns]
    rows = db.spark.read.format("delta").load(source.location).select(*columns).collect()
    expected = shop.execute(f"SELECT {', '.join(columns)} FROM {name}").fetchall()
    assert bag_of(map(tuple, rows)) == bag_of(expected)


def test_a_source_that_is_dropped_leaves_nothing_behind(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _add(db, url)
    db.create("totals", QUERY)
    with pytest.raises(InUseError):
        db.drop_source("accounts")
    db.drop("totals")
    db.drop_source("accounts")
    db.drop_source("entries")
    left = shop.execute(
        "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname LIKE 'streamtables%%'"
    ).fetchone()
    assert left == (0,)
    assert shop.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)
    assert list((db.warehouse / "mirrors").iterdir()) == []


def test_a_new_column_a_dropped_one_and_another_type_are_followed(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _add(db, url)
    db.create("totals", QUERY)
    refreshed(db, "totals")
    shop.execute("ALTER TABLE entries ADD COLUMN at date DEFAULT '2026-01-01'")
    shop.execute("INSERT INTO entries VALUES (1, 3, 'z', '2026-02-02')")
    assert refreshed(db, "totals").reason.code != "rebuild"
    _same_as_in_postgres(db, shop, "totals", QUERY)
    shop.execute("ALTER TABLE entries DROP COLUMN note")
    shop.execute("ALTER TABLE entries ALTER COLUMN amount TYPE numeric(14,3) USING amount * 2")
    refreshed(db, "totals")
    _same_as_in_postgres(db, shop, "totals", QUERY)
    shop.execute("INSERT INTO entries VALUES (2, 1.125, '2026-03-03')")
    assert refreshed(db, "totals").mode == "differential"
    _same_as_in_postgres(db, shop, "totals", QUERY)
    db.create("by_day", "SELECT at, count(*) AS n FROM entries GROUP BY at")
    refreshed(db, "by_day")


LOST = {
    "dropped": ["ALTER TABLE entries DROP COLUMN amount"],
    "renamed": ["ALTER TABLE entries RENAME COLUMN amount TO worth"],
    "made again without it": [
        "DROP TABLE entries",
        "CREATE TABLE entries (account int, note text)",
        "INSERT INTO entries VALUES (1, 'begun anew')",
    ],
}
FOUND_AGAIN = {
    "dropped": "ALTER TABLE entries ADD COLUMN amount numeric(12,2) DEFAULT 7",
    "renamed": "ALTER TABLE entries RENAME COLUMN worth TO amount",
    "made again without it": "ALTER TABLE entries ADD COLUMN amount numeric(12,2) DEFAULT 7",
}
SUMS = "SELECT account, sum(amount) AS total FROM entries GROUP BY account"
NOTES = "SELECT note, count(*) AS n FROM entries GROUP BY note"
OWNERS = "SELECT id, owner FROM accounts"


def _three_readers(db: StreamTables, url: str, capture: str = "triggers") -> None:
    _add(db, url, capture)
    for name, query in (("sums", SUMS), ("notes", NOTES), ("owners", OWNERS)):
        db.create(name, query)
        refreshed(db, name)


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("how", LOST)
def test_readers_of_a_column_that_is_gone_stop_until_it_is_back_and_others_go_on(
    db: StreamTables, shop: psycopg.Connection, url: str, how: str, capture: str
) -> None:
    shop.execute("ALTER TABLE entries REPLICA IDENTITY FULL")
    _three_readers(db, url, capture)
    before = bag_of(map(tuple, db.read("sums").collect()))
    for statement in LOST[how]:
        if capture == "wal" and statement.startswith("CREATE"):
            statement += "; ALTER TABLE entries REPLICA IDENTITY FULL"
        shop.execute(statement.encode())
    shop.execute("INSERT INTO entries (account, note) VALUES (3, 'later')")
    shop.execute("UPDATE accounts SET owner = 'cleo' WHERE id = 3")
    for _ in range(2):
        with pytest.raises(SchemaChangedError) as stopped:
            db.refresh("sums")
        assert stopped.value.code == "ST-2003"
        assert stopped.value.detail == 'Missing: "amount".'
        assert stopped.value.hint == 'Restore the column, or alter the query of "sums".'
    assert bag_of(map(tuple, db.read("sums").collect())) == before
    for name, query in (("notes", NOTES), ("owners", OWNERS)):
        refreshed(db, name)
        _same_as_in_postgres(db, shop, name, query)
    shop.execute(FOUND_AGAIN[how].encode())
    refreshed(db, "sums")
    _same_as_in_postgres(db, shop, "sums", SUMS)


def test_readers_of_a_table_that_is_gone_stop_until_it_is_made_again_and_others_go_on(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _three_readers(db, url)
    shop.execute("DROP TABLE entries")
    shop.execute("UPDATE accounts SET owner = 'cleo' WHERE id = 3")
    for name in ("sums", "notes"):
        with pytest.raises(SourceMissingError, match=r"public\.entries is gone") as stopped:
            db.refresh(name)
        assert stopped.value.hint
    refreshed(db, "owners")
    _same_as_in_postgres(db, shop, "owners", OWNERS)
    shop.execute(ENTRIES.encode())
    shop.execute("INSERT INTO entries VALUES (1, 3, 'begun anew')")
    for name, query in (("sums", SUMS), ("notes", NOTES)):
        refreshed(db, name)
        _same_as_in_postgres(db, shop, name, query)


def test_the_first_copy_through_java_names_its_purpose(db: StreamTables) -> None:
    with running_server(log_statement="all", log_line_prefix="%a:") as own:
        with psycopg.connect(own.url, autocommit=True) as connection:
            connection.execute(ENTRIES)
        db.add_source("entries", postgres=own.url, table="entries")
        said = (own.folder / "server.log").read_text(encoding="utf-8")
    # A statement of several lines goes on after a tab.
    statements = said.replace("\n\t", " ").splitlines()
    names = {text.partition(":")[0] for text in statements if " AS copied" in text}
    assert names == {"streamtables copy"}


def test_java_copies_nothing_over_a_channel_that_is_not_bound_as_the_address_asks(
    db: StreamTables, shop: psycopg.Connection, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jdbc = Server.jdbc

    def bound(server: Server) -> tuple[str, dict[str, str]]:
        # As the URL says it libpq would refuse first, and Java would never be asked.
        address, properties = jdbc(server)
        return address, {**properties, "channelBinding": "require"}

    monkeypatch.setattr(Server, "jdbc", bound)
    with pytest.raises(SourceUnusableError) as refused:
        db.add_source("accounts", postgres=url, table="accounts")
    assert "channel binding" in refused.value.detail.lower()
    assert db.sources() == []


def test_a_disabled_trigger_means_a_new_copy_with_its_reason(
    db: StreamTables, shop: psycopg.Connection, url: str
) -> None:
    _add(db, url)
    db.create("totals", QUERY)
    refreshed(db, "totals")
    shop.execute("ALTER TABLE entries DISABLE TRIGGER ALL")
    shop.execute("INSERT INTO entries VALUES (1, 3, 'unseen')")
    refreshed(db, "totals")
    _same_as_in_postgres(db, shop, "totals", QUERY)
    [status] = [item for item in db.wal_source_status() if item.source == "entries"]
    assert "trigger" in status.history[0].reason


BAD = {
    "a wrong password": ("nobody_here", "accounts", SourceUnusableError),
    "no such table": ("postgres", "nothing", SourceUnusableError),
    "a view": ("postgres", "a_view", SourceUnusableError),
    "an unlogged table": ("postgres", "unlogged", SourceUnusableError),
    "no rights": ("stranger", "accounts", SourceUnusableError),
    "types that cannot be mirrored": ("postgres", "odd", SourceUnusableError),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_captured_is_refused_and_nothing_is_left(
    db: StreamTables, shop: psycopg.Connection, url: str, what: str
) -> None:
    user, table, error = BAD[what]
    shop.execute("CREATE VIEW a_view AS SELECT 1 AS a")
    shop.execute("CREATE UNLOGGED TABLE unlogged (a int)")
    shop.execute("CREATE TABLE odd (a money, b point)")
    shop.execute("DROP ROLE IF EXISTS stranger")
    shop.execute("CREATE ROLE stranger LOGIN")
    address = url.replace("postgres@", f"{user}@")
    with pytest.raises(error) as refused:
        db.add_source("x", postgres=address, table=table)
    assert refused.value.hint or refused.value.detail
    assert db.sources() == []
    found = shop.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'streamtables%%'")
    assert found.fetchone() == (0,)
    shop.execute("DROP ROLE stranger")


def test_requests_that_make_no_sense_are_refused(db: StreamTables, url: str) -> None:
    with pytest.raises(ConfigError):
        db.add_source("x", postgres=url)
    with pytest.raises(ConfigError):
        db.add_source("x", postgres="mysql://localhost/x", table="t")
    with pytest.raises(ConfigError):
        db.add_source("x", postgres=url, table="t", capture="magic")
    with pytest.raises(ConfigError):
        db.add_source("x", path="somewhere", capture="wal")
    with pytest.raises(SourceUnusableError, match="cannot be reached"):
        db.add_source("x", postgres="postgresql://postgres@127.0.0.1:1/x", table="t")


def test_a_table_is_captured_once(db: StreamTables, shop: psycopg.Connection, url: str) -> None:
    _add(db, url)
    with pytest.raises(AlreadyExistsError, match="accounts"):
        db.add_source("again", postgres=url, table="accounts")


def test_a_server_that_is_down_fails_the_refresh_and_changes_nothing(
    db: StreamTables,
) -> None:
    with running_server() as own:
        with psycopg.connect(own.url, autocommit=True) as connection:
            connection.execute(ENTRIES)
            connection.execute("INSERT INTO entries VALUES (1, 1, 'x')")
        db.add_source("entries", postgres=own.url, table="entries")
        db.create("n", "SELECT count(*) AS n FROM entries")
        refreshed(db, "n")
        own.stop(how="immediate")
        with pytest.raises(TransientError):
            db.refresh("n")
        assert_equal_to_query(db, "n")
        own.start()
        with psycopg.connect(own.url, autocommit=True) as connection:
            connection.execute("INSERT INTO entries VALUES (2, 1, 'y')")
        refreshed(db, "n")
        assert db.read("n").collect()[0][0] == 2
