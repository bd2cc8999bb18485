"""What makes capture by the log impossible, and how a break in it is noticed."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import TransientError
from streamtables.sources.postgres import publication, slot
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.wal import position
from streamtables.sources.postgres.wal_blocks import (
    server_facts,
    table_blocks,
    table_facts,
    what_blocks,
)
from tests.integration.postgres.versions import needs_server
from tests.integration.postgres.wal_support import NAME, Lab, lab, server

pytestmark = pytest.mark.postgres
__all__ = ["lab", "server"]

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text, amount numeric(10,2))"


def broken(lab: Lab) -> str:
    return slot.what_broke(slot.slot_facts(lab.reader, NAME), lab.confirmed)


def blocks(lab: Lab, name: str, *, version: int | None = None) -> tuple[str, ...]:
    table = describe_table(lab.reader, find_table(lab.reader, name))
    assert table is not None
    facts = server_facts(lab.reader)
    facts = replace(facts, version=version or facts.version)
    return table_blocks(table, table_facts(lab.reader, table), facts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER TABLE t ADD COLUMN extra int", 'The table public.t was altered: "extra" added.'),
        ("ALTER TABLE t DROP COLUMN v", 'The table public.t was altered: "v" dropped.'),
        (
            "ALTER TABLE t RENAME COLUMN v TO w",
            'The table public.t was altered: "w" added and "v" dropped.',
        ),
        (
            "ALTER TABLE t ALTER COLUMN v TYPE varchar(9)",
            'The table public.t was altered: "v" of another type.',
        ),
        (
            "ALTER TABLE t ALTER COLUMN amount TYPE numeric(12,4)",
            'The table public.t was altered: "amount" of another type.',
        ),
        (
            "ALTER TABLE t ADD UNIQUE (id, amount); ALTER TABLE t ALTER amount SET NOT NULL;"
            "ALTER TABLE t REPLICA IDENTITY USING INDEX t_id_amount_key",
            "The replica identity of the table public.t changed: "
            'old rows do not come by "id" any more.',
        ),
    ],
    ids=["add", "drop", "rename", "type", "precision", "identity"],
)
def test_a_table_that_is_altered_says_how_and_gives_no_rows_from_there_on(
    lab: Lab, change: str, said: str
) -> None:
    lab.table(TABLE)
    lab.do("INSERT INTO t VALUES (1, 'before', 1)", change)
    lab.do("INSERT INTO t (id, amount) VALUES (2, 1)", "TRUNCATE t")
    [captured] = lab.take(position(lab.reader)).captured.values()
    assert captured.reshaped == said
    assert captured.rows.column("id").to_pylist() == [1]
    assert not captured.cleared


def test_an_alteration_that_the_mirror_does_not_feel_goes_on(lab: Lab) -> None:
    lab.table(TABLE, "INSERT INTO t VALUES (1, 'before', 1)")
    lab.do("ALTER TABLE t ALTER v SET DEFAULT 'x', ADD CHECK (id > 0)", "UPDATE t SET id = 2")
    lab.do("ALTER TABLE t REPLICA IDENTITY FULL", "UPDATE t SET id = 3", "UPDATE t SET v = 'after'")
    lab.drain()


@pytest.mark.fault(
    "postgres",
    "the replication slot was dropped",
    step="drain",
    seen="the slot is reported as lost",
    recovery="by itself: the tables are copied",
)
def test_a_slot_that_is_gone_is_noticed(lab: Lab) -> None:
    assert broken(lab) == ""
    slot.drop(lab.reader, NAME)
    assert broken(lab) == "the replication slot is gone"
    slot.drop(lab.reader, NAME)


@pytest.mark.fault(
    "postgres",
    "the replication slot was dropped and made again",
    step="drain",
    seen="the slot is reported as lost",
    recovery="by itself: the tables are copied",
)
def test_a_slot_that_was_made_again_is_noticed(lab: Lab) -> None:
    lab.table(TABLE)
    slot.drop(lab.reader, NAME)
    lab.do("INSERT INTO t VALUES (1, 'lost', 1)")
    slot.create(lab.reader, NAME)
    slot.create(lab.reader, NAME)
    assert "dropped and made again" in broken(lab)


@pytest.mark.fault(
    "rivals",
    "somebody else reads the replication slot",
    step="drain",
    seen="the slot is reported as lost",
    recovery="by itself: the tables are copied",
)
def test_a_slot_that_somebody_else_read_is_noticed(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("INSERT INTO t VALUES (1, 'lost', 1)")
    lab.do(f"SELECT pg_replication_slot_advance('{NAME}', pg_current_wal_lsn())")
    assert "it was moved" in broken(lab)


@pytest.mark.fault(
    "postgres",
    "the server gives the slot up (`max_slot_wal_keep_size`)",
    step="drain",
    seen="the slot is reported as lost",
    recovery="by itself: the tables are copied",
)
def test_a_slot_that_the_server_gave_up_is_noticed(lab: Lab) -> None:
    limit = "max_slot_wal_keep_size"
    lab.do(f"ALTER SYSTEM SET {limit} = '1MB'", "SELECT pg_reload_conf()")
    try:
        for _ in range(4):
            lab.do("SELECT pg_logical_emit_message(false, '', 'x')", "SELECT pg_switch_wal()")
        lab.do("CHECKPOINT")
        assert slot.slot_facts(lab.reader, NAME).wal_status == "lost"
        assert broken(lab) == "the server gave up the replication slot (wal_removed)"
        assert server_facts(lab.reader).keep_size == "1MB"
    finally:
        lab.do(f"ALTER SYSTEM RESET {limit}", "SELECT pg_reload_conf()")


def test_a_slot_says_how_much_log_it_keeps(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("INSERT INTO t SELECT i, repeat('x', 100), 0 FROM generate_series(1, 10000) i")
    facts = slot.slot_facts(lab.reader, NAME)
    assert (facts.exists, facts.active, facts.plugin) == (True, False, "pgoutput")
    assert facts.database == lab.database
    assert facts.retained_bytes >= facts.lag_bytes > 1_000_000
    lab.drain()
    assert slot.slot_facts(lab.reader, NAME).lag_bytes < 100_000


def test_a_slot_waits_for_open_writers_only_so_long(lab: Lab) -> None:
    slot.drop(lab.reader, NAME)
    lab.reader.execute("SET lock_timeout = '200ms'")
    lab.do("CREATE TABLE other (id int)")
    with lab.session() as late:
        late.execute("BEGIN; INSERT INTO other VALUES (1)")
        with pytest.raises(TransientError, match="a transaction is open"):
            slot.create(lab.reader, NAME)
    assert not slot.slot_facts(lab.reader, NAME).exists


def test_a_publication_is_made_once_and_dropped_once(lab: Lab) -> None:
    publication.create(lab.reader, NAME)
    assert publication.exists(lab.reader, NAME)
    publication.drop(lab.reader, NAME)
    publication.drop(lab.reader, NAME)
    assert not publication.exists(lab.reader, NAME)


def test_a_server_that_is_ready_has_no_reason_against_it(lab: Lab) -> None:
    assert what_blocks(server_facts(lab.reader)) == ()


def test_everything_that_is_missing_on_a_server_is_named_at_once() -> None:
    with running_server(wal_level="replica", max_replication_slots="0") as own:
        with psycopg.connect(own.url, autocommit=True) as admin:
            admin.execute('CREATE ROLE "Weak" LOGIN')
        with psycopg.connect(own.url_of("postgres", user="Weak")) as weak:
            found = what_blocks(server_facts(weak))
    assert len(found) == 4
    for said, cure in zip(
        found,
        (
            "wal_level = 'logical'",
            "max_replication_slots = 5",
            'ALTER ROLE "Weak" REPLICATION;',
            'GRANT CREATE ON DATABASE "postgres" TO "Weak";',
        ),
        strict=True,
    ):
        assert cure in said


def test_the_rights_that_are_named_are_enough(server: PostgresServer, lab: Lab) -> None:
    lab.do(TABLE, "CREATE ROLE keen LOGIN REPLICATION")
    lab.do(f"GRANT CREATE ON DATABASE {lab.database} TO keen")
    lab.do("ALTER TABLE t OWNER TO keen", "GRANT ALL ON SCHEMA public TO keen")
    url = server.url_of(lab.database, user="keen")
    with psycopg.connect(url, autocommit=True) as keen:
        assert what_blocks(server_facts(keen)) == ()
        table = describe_table(keen, find_table(keen, "t"))
        assert table is not None
        assert table_blocks(table, table_facts(keen, table), server_facts(keen)) == ()
        publication.create(keen, "keen")
        slot.create(keen, "keen")
        publication.add_table(keen, "keen", table)
        keen.execute("BEGIN; INSERT INTO t VALUES (1, 'a', 1); SET LOCAL synchronous_commit = off")
        keen.execute("COMMIT")
        slot.advance(keen, "keen", position(keen).lsn)
        slot.drop(keen, "keen")


@pytest.mark.parametrize(
    ("statement", "cures"),
    [
        (TABLE, ()),
        ("CREATE TABLE t (id int)", ("REPLICA IDENTITY FULL",)),
        ("CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)", ("REPLICA IDENTITY FULL",)),
        ("CREATE UNLOGGED TABLE t (id int PRIMARY KEY)", ("SET LOGGED",)),
        ("CREATE VIEW t AS SELECT 1 AS id", ("not a table",)),
        (
            "CREATE TABLE t (id int PRIMARY KEY, b int GENERATED ALWAYS AS (id + 1) VIRTUAL)",
            ('computes "b" when it is read',),
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY, b int GENERATED ALWAYS AS (id + 1) STORED)",
            (),
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE c () INHERITS (t)",
            ("child tables by inheritance",),
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);"
            "CREATE TABLE p PARTITION OF t DEFAULT; ALTER TABLE t REPLICA IDENTITY FULL",
            ("ALTER TABLE p REPLICA IDENTITY FULL;",),
        ),
    ],
    ids=[
        "plain", "no key", "deferrable", "unlogged", "view", "virtual", "stored", "parent",
        "partition",
    ],
)  # fmt: skip
def test_a_table_that_the_log_cannot_follow_says_why(
    lab: Lab, statement: str, cures: tuple[str, ...]
) -> None:
    if "GENERATED" in statement:
        needs_server(lab.writer, 18)
    lab.do(statement)
    found = blocks(lab, "t")
    assert len(found) == len(cures)
    for said, cure in zip(found, cures, strict=True):
        assert cure in said


def test_stored_columns_are_published_from_18_on(lab: Lab) -> None:
    lab.do("CREATE TABLE t (id int PRIMARY KEY, b int GENERATED ALWAYS AS (id + 1) STORED)")
    [said] = blocks(lab, "t", version=170_004)
    assert '"b"' in said
