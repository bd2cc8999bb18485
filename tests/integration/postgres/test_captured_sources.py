"""What becomes of captured sources beside their rows: events, servers that are gone, status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from streamtables.cli import main
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import ConfigError, SourceMissingError, TransientError
from streamtables.scheduler.failures import is_expected
from streamtables.sources.postgres import drain, mirror
from streamtables.sources.postgres.status import capture_status
from streamtables.sources.postgres.turns import alone
from tests.support.postgres_chain import Chain, copied_by_deltalake, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        yield started


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
        connection.execute("CREATE TABLE other (id int PRIMARY KEY, a text)")
        connection.execute("INSERT INTO keyed VALUES (1, 'one')")
        yield connection


@pytest.fixture
def chain(tmp_path: Path, server: PostgresServer) -> Iterator[Chain]:
    with Chain(tmp_path / "w", server.url) as opened:
        yield opened


def test_a_drain_that_spark_has_to_write_is_an_event_and_leaves_the_capture_as_it_is(
    chain: Chain, shop: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.add("keyed", capture="triggers")
    small, most = mirror._small, mirror.SMALL_ROWS

    def by_hand(source: Any, head: Any, captured: Any, stamp: Any, key: Any, _: object) -> Any:
        monkeypatch.setattr(mirror, "SMALL_ROWS", most)
        return small(source, head, captured, stamp, key)

    # Spark's part is done by hand: only the record of it matters here.
    monkeypatch.setattr(mirror, "_large", by_hand)
    monkeypatch.setattr(mirror, "SMALL_ROWS", 2)
    # A new file of the table is noted in the capture before the event is.
    shop.execute("TRUNCATE keyed")
    shop.execute("INSERT INTO keyed SELECT g, 'x' FROM generate_series(1, 1234) g")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    kind, reason = chain.reasons("keyed")[0]
    assert kind == "drained by Spark"
    assert reason.startswith("1,234 changed rows: ")
    assert chain.drain() == {}
    assert [kind for kind, _ in chain.reasons("keyed")] == ["drained by Spark", "added"]


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_table_that_is_truncated_while_it_is_added_is_copied_once(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    def after_a_truncate(*arguments: Any, **named: Any) -> Any:
        # Captured already, and not yet copied.
        shop.execute("TRUNCATE keyed")
        shop.execute("INSERT INTO keyed VALUES (7, 'after')")
        return copied_by_deltalake(*arguments, **named)

    chain.capture.copy = after_a_truncate
    chain.add("keyed", capture=capture)
    shop.execute("INSERT INTO keyed VALUES (8, 'later')")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert [kind for kind, _ in chain.reasons("keyed")] == ["added"]
    shop.execute("VACUUM FULL keyed")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert [kind for kind, _ in chain.reasons("keyed")] == ["copied", "copying", "added"]


OURS = (
    "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT count(*) FROM pg_publication",
    "SELECT count(*) FROM pg_replication_slots",
    "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'streamtables%'",
)


@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_a_source_of_a_dead_server_is_forgotten_and_its_statements_clean_the_server_later(
    chain: Chain, shop: psycopg.Connection, server: PostgresServer, capture: str
) -> None:
    chain.add("keyed", "other", capture=capture)
    server.stop(how="immediate")
    with pytest.raises(TransientError) as refused:
        chain.capture.drop(chain.catalog.source("keyed"))
    assert "--leave-server" in refused.value.hint
    assert "leave_server=True" in refused.value.hint
    statements: list[str] = []
    for name in ("keyed", "other"):
        source = chain.catalog.source(name)
        statements += chain.capture.left_behind(source)
        assert chain.capture.forget(source) == source
        assert not Path(source.location).exists()
    assert chain.catalog.captures() == {}
    server.start()
    with psycopg.connect(server.url, autocommit=True) as back:
        for statement in statements:
            back.execute(statement)
        assert [back.execute(question).fetchone() for question in OURS] == [(0,)] * 4
        # The tables are nobody's but their owner's again.
        back.execute("INSERT INTO keyed VALUES (2, 'free')")


def test_a_source_whose_address_is_no_longer_known_can_be_forgotten(
    chain: Chain, shop: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", chain.url)
    source = chain.capture.add("keyed", "${env:SHOP_URL}", "keyed", wish="triggers")
    monkeypatch.delenv("SHOP_URL")
    with pytest.raises(ConfigError) as refused:
        chain.capture.drop(source)
    assert "--leave-server" in refused.value.hint
    assert chain.capture.left_behind(source)
    chain.capture.forget(source)
    assert chain.catalog.sources() == ()


def _in_log(chain: Chain, source: str = "keyed") -> int | None:
    found = {status.source: status for status in capture_status(chain.catalog, datetime.now(UTC))}
    assert found[source].error is None
    return found[source].wal_decoder_pending_records


def test_changes_that_wait_in_the_log_are_counted_until_they_are_drained(
    chain: Chain, shop: psycopg.Connection, server: PostgresServer
) -> None:
    chain.add("keyed", capture="wal")
    chain.add("other", capture="triggers")
    assert _in_log(chain) == 0
    shop.execute("INSERT INTO keyed SELECT g, 'x' FROM generate_series(2, 8) g")
    shop.execute("UPDATE keyed SET a = 'y' WHERE id = 1")
    shop.execute("INSERT INTO other VALUES (1, 'of no concern to the log')")
    with psycopg.connect(server.url) as late:
        late.execute("DELETE FROM keyed WHERE id = 2")
        assert _in_log(chain) == 8
        assert _in_log(chain, "other") is None
        assert chain.drain() == {}
        assert _in_log(chain) == 0
        late.commit()
    # The slot stands before what was drained already, which does not wait any more.
    assert _in_log(chain) == 1
    assert chain.drain() == {}
    assert _in_log(chain) == 0


def test_changes_are_not_counted_while_somebody_drains(
    chain: Chain, shop: psycopg.Connection, server: PostgresServer
) -> None:
    chain.add("keyed", capture="wal")
    [database] = chain.catalog.captured_databases()
    with psycopg.connect(server.url, autocommit=True) as other, alone(other, database):
        assert _in_log(chain) is None
    assert _in_log(chain) == 0


def test_auto_moves_to_the_wal_with_the_settings_as_they_come(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="auto")
    for number in range(10, 14):
        shop.execute(
            "INSERT INTO keyed SELECT 100 * %s + g, repeat('x', 500) FROM generate_series(1, 40) g",
            (number,),
        )
        assert chain.drain() == {}
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.modes() == {"keyed": ("wal", None)}


@pytest.mark.fault(
    "postgres",
    "a crash of the server undoes commits of `synchronous_commit = off`",
    step="drain",
    seen="nothing: the mirror waits until a commit is safe",
    recovery="none needed",
)
@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_no_mirror_has_a_commit_that_a_crash_of_the_server_undid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capture: str
) -> None:
    with (
        running_server(wal_writer_delay="10s") as server,
        Chain(tmp_path / "w", server.url) as chain,
    ):
        with psycopg.connect(server.url, autocommit=True) as writer:
            writer.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
            chain.add("keyed", capture=capture)
            writer.execute("SET synchronous_commit = off")
            writer.execute("INSERT INTO keyed VALUES (1, 'not yet on disk')")

        def crash(point: str) -> None:
            if point == "mirrors-committed":
                server.stop(how="immediate")
                server.start()

        with monkeypatch.context() as patch:
            patch.setattr(drain, "reach", crash)
            assert isinstance(chain.drain()["keyed"], TransientError)
        with psycopg.connect(server.url, autocommit=True) as writer:
            # The numbers of transactions that are lost are given out once more.
            for number in range(2, 6):
                writer.execute("INSERT INTO keyed VALUES (%s, 'after')", (number,))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(writer, "keyed")


NUMBERED = {
    "strict": "id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "lax": "id int GENERATED BY DEFAULT AS IDENTITY (START 10 INCREMENT 5) PRIMARY KEY",
}
WRITES = (
    "INSERT INTO {} (a) VALUES ('by itself'), ('once more')",
    "INSERT INTO {} (id, a) OVERRIDING SYSTEM VALUE VALUES (100, 'by hand')",
    "BEGIN; INSERT INTO {} (a) VALUES ('leaves a gap'); ROLLBACK",
    "UPDATE {} SET a = a || '!' WHERE a <> 'one'",
    "UPDATE {} SET id = DEFAULT WHERE a = 'one'",
    "DELETE FROM {} WHERE id = 100",
    "BEGIN; TRUNCATE {} RESTART IDENTITY; INSERT INTO {} (a) VALUES ('first again'); COMMIT",
)


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_tables_whose_server_numbers_their_rows_are_followed(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    for name, column in NUMBERED.items():
        shop.execute(f"CREATE TABLE {name} ({column}, a text)".encode())
        shop.execute(f"INSERT INTO {name} (a) VALUES ('one'), ('two')".encode())
        chain.add(name, capture=capture)
    for statement in WRITES:
        for name in NUMBERED:
            shop.execute(statement.replace("{}", name).encode())
        assert chain.drain() == {}
        for name in NUMBERED:
            assert chain.mirror(name) == rows_of(shop, name), statement
    assert {kind for name in NUMBERED for kind, _ in chain.reasons(name)} == {"added"}


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_table_that_is_gone_is_no_wrong_request_and_passes_when_it_is_made_again(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    chain.add("keyed", "other", capture=capture)
    shop.execute("DROP TABLE keyed")
    for _ in range(2):
        shop.execute("INSERT INTO other SELECT count(*), 'goes on' FROM other")
        [(name, error)] = chain.drain().items()
        assert name == "keyed"
        assert isinstance(error, SourceMissingError)
        assert error.message == "the PostgreSQL table public.keyed is gone"
        assert "Make it again" in error.hint
        # The scheduler tries it again.
        assert is_expected(error)
        assert chain.mirror("other") == rows_of(shop, "other")
    shop.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
    shop.execute("INSERT INTO keyed VALUES (7, 'anew')")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


def _of_slots(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """Return what `doctor` says of how much log a slot may keep."""
    capsys.readouterr()
    main(["--warehouse", str(warehouse), "doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert any("tables captured" in finding["detail"] for finding in found)
    return [finding for finding in found if "max_slot_wal_keep_size" in finding["detail"]]


def test_doctor_warns_of_a_slot_that_may_fill_the_disk_until_its_hint_is_followed(
    chain: Chain,
    shop: psycopg.Connection,
    server: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chain.add("keyed", capture="wal")
    [warning] = _of_slots(tmp_path / "w", capsys)
    # It is nothing that is wrong already.
    assert warning["state"] == "ok"
    assert "unlimited" in warning["detail"]
    for statement in warning["hint"].rstrip(";").split("; "):
        shop.execute(statement.encode())
    # A signal takes its time; a start does not come too early.
    server.stop()
    server.start()
    assert _of_slots(tmp_path / "w", capsys) == []


def test_doctor_asks_for_no_limit_of_slots_where_none_is_used(
    chain: Chain,
    shop: psycopg.Connection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chain.add("keyed", capture="triggers")
    assert _of_slots(tmp_path / "w", capsys) == []
