"""Wrong passwords, rights and addresses, as a person meets them at the command line.

The server asks for passwords.  Each answer is three lines at most, and nothing is left behind.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from streamtables.cli import main
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.jdbc_copy import session_statements
from streamtables.sources.postgres import copying
from streamtables.sources.postgres.server import Server
from tests.support.postgres_chain import Chain, rows_of
from tests.support.postgres_role import make_role

pytestmark = pytest.mark.postgres

SECRET = "a very secret word"
RULES = """
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
"""
ROLES = f"""
CREATE ROLE stranger LOGIN PASSWORD '{SECRET}';
CREATE ROLE reader LOGIN PASSWORD '{SECRET}';
GRANT SELECT ON keyed TO reader;
CREATE ROLE owns_only LOGIN PASSWORD '{SECRET}';
GRANT shop_keeper TO owns_only;
"""
OURS = """
SELECT count(*) FROM (
    SELECT slot_name FROM pg_replication_slots UNION ALL SELECT pubname FROM pg_publication
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'streamtables_capture'
    UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal) AS ours
"""


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        (started.folder / "data" / "pg_hba.conf").write_text(RULES)
        with psycopg.connect(started.url, autocommit=True) as root:
            root.execute("SELECT pg_reload_conf()")
            root.execute("CREATE TABLE keyed (id int PRIMARY KEY)")
            make_role(root, "shop_keeper", "captures", SECRET, ["keyed"])
            for statement in ROLES.strip().splitlines():
                root.execute(statement.encode())
        yield started


@pytest.fixture
def root(server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        yield connection


def run(folder: Path, *command: str) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["--warehouse", str(folder), *command])
    return Answer(code, out.getvalue(), err.getvalue())


CASES = {
    "wrong password": ("captures", "not it", "keyed", "auto", "refuses the connection"),
    "no such role": ("nobody_at_all", SECRET, "keyed", "auto", "refuses the connection"),
    "no such table": ("captures", SECRET, "no_such_table", "auto", "no_such_table"),
    "may not read": ("stranger", SECRET, "keyed", "auto", "GRANT SELECT"),
    "not the owner": ("reader", SECRET, "keyed", "triggers", "belongs to another role"),
    "may not make a schema": ("owns_only", SECRET, "keyed", "triggers", "GRANT CREATE"),
    "may not replicate": ("owns_only", SECRET, "keyed", "wal", "REPLICATION"),
}


@pytest.mark.parametrize(
    ("role", "password", "table", "capture", "says"), CASES.values(), ids=CASES.keys()
)
def test_a_source_that_cannot_be_added_is_a_wrong_request_and_leaves_nothing(
    tmp_path: Path,
    server: PostgresServer,
    root: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    role: str,
    password: str,
    table: str,
    capture: str,
    says: str,
) -> None:
    monkeypatch.setenv("SHOP_URL", server.url_of("postgres", role, password))
    assert run(tmp_path / "w", "source", "list").code == 0
    added = run(
        tmp_path / "w",
        "source",
        "add",
        "keyed",
        "--postgres",
        "${env:SHOP_URL}",
        "--table",
        table,
        "--capture",
        capture,
    )
    assert (added.code, added.out) == (2, "")
    assert added.err.startswith("error[ST-1")
    assert says in added.err
    assert len(added.err.splitlines()) <= 3
    assert password not in added.err
    left_nothing(tmp_path, root)


def test_all_that_is_missing_is_said_at_once(
    tmp_path: Path,
    server: PostgresServer,
    root: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root.execute("CREATE TABLE odd (id int PRIMARY KEY, price money)")
    monkeypatch.setenv("SHOP_URL", server.url_of("postgres", "stranger", SECRET))
    where = ("--postgres", "${env:SHOP_URL}", "--table", "odd")
    added = run(tmp_path / "w", "source", "add", "odd", *where)
    assert added.code == 2
    wanted = ("money", "GRANT SELECT", "GRANT CREATE ON DATABASE", "belongs to another role")
    assert [text for text in wanted if text not in added.err] == []
    assert len(added.err.splitlines()) <= 3
    left_nothing(tmp_path, root)
    root.execute("DROP TABLE odd")


HIDES = (
    "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY odd_ones ON hidden USING (id % 2 = 1)",
)


@pytest.mark.parametrize(
    ("role", "force", "wanted"),
    [
        ("captures", True, "ALTER ROLE captures BYPASSRLS"),
        ("stranger", False, "GRANT shop_keeper TO stranger"),
    ],
)
@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_a_table_that_a_policy_hides_rows_of_is_refused(
    tmp_path: Path,
    server: PostgresServer,
    root: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    role: str,
    force: bool,
    wanted: str,
    capture: str,
) -> None:
    root.execute("CREATE TABLE hidden (id int PRIMARY KEY)")
    root.execute("INSERT INTO hidden SELECT generate_series(1, 9)")
    root.execute("ALTER TABLE hidden OWNER TO shop_keeper")
    root.execute("GRANT SELECT ON hidden TO stranger")
    try:
        for statement in HIDES:
            root.execute(statement)
        root.execute(f"ALTER TABLE hidden {'' if force else 'NO '}FORCE ROW LEVEL SECURITY")
        monkeypatch.setenv("SHOP_URL", server.url_of("postgres", role, SECRET))
        where = ("--postgres", "${env:SHOP_URL}", "--table", "hidden", "--capture", capture)
        added = run(tmp_path / "w", "source", "add", "hidden", *where)
        assert added.code == 2
        assert "row-level security" in added.err
        assert wanted in added.err.replace('"', "")
        assert len(added.err.splitlines()) <= 3
        left_nothing(tmp_path, root)
    finally:
        root.execute("DROP TABLE hidden")


@pytest.mark.parametrize("allowed", ["ALTER ROLE captures BYPASSRLS", "SELECT 1"])
def test_a_role_that_no_policy_holds_copies_all_rows(
    tmp_path: Path,
    server: PostgresServer,
    root: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    allowed: str,
) -> None:
    root.execute("CREATE TABLE hidden (id int PRIMARY KEY)")
    root.execute("INSERT INTO hidden SELECT generate_series(1, 9)")
    root.execute("ALTER TABLE hidden OWNER TO shop_keeper")
    monkeypatch.setenv("SHOP_URL", server.url_of("postgres", "captures", SECRET))
    try:
        for statement in (*HIDES, allowed):
            root.execute(statement)
        if "BYPASSRLS" in allowed:
            root.execute("ALTER TABLE hidden FORCE ROW LEVEL SECURITY")
        with Chain(tmp_path / "w", "${env:SHOP_URL}") as chain:
            chain.add("hidden")
            root.execute("INSERT INTO hidden VALUES (10)")
            assert chain.drain() == {}
            assert chain.mirror("hidden") == rows_of(root, "hidden")
            chain.capture.drop(chain.catalog.source("hidden"))
    finally:
        root.execute("ALTER ROLE captures NOBYPASSRLS")
        root.execute("DROP TABLE hidden")


def test_a_policy_that_comes_later_stops_a_copy_and_shortens_none(
    tmp_path: Path,
    server: PostgresServer,
    root: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root.execute("CREATE TABLE hidden (id int PRIMARY KEY, n int)")
    root.execute("INSERT INTO hidden SELECT generate_series(1, 9), 0")
    root.execute("ALTER TABLE hidden OWNER TO shop_keeper")
    monkeypatch.setenv("SHOP_URL", server.url_of("postgres", "captures", SECRET))
    with Chain(tmp_path / "w", "${env:SHOP_URL}") as chain:
        chain.add("hidden")
        for statement in (*HIDES, "ALTER TABLE hidden FORCE ROW LEVEL SECURITY"):
            root.execute(statement)
        root.execute("UPDATE hidden SET n = 1 WHERE id = 2")
        assert chain.drain() == {}
        assert chain.mirror("hidden") == rows_of(root, "hidden")
        root.execute("ALTER TABLE hidden ALTER n TYPE int8")
        [error] = chain.drain().values()
        assert "BYPASSRLS" in error.hint
        assert len(chain.stored("hidden")) == 9
        root.execute("ALTER TABLE hidden NO FORCE ROW LEVEL SECURITY")
        assert chain.drain() == {}
        assert chain.mirror("hidden") == rows_of(root, "hidden")
        chain.capture.drop(chain.catalog.source("hidden"))
    root.execute("DROP TABLE hidden")


def test_sessions_that_copy_are_neither_filtered_nor_cut_off(
    server: PostgresServer, root: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["statement_timeout", "idle_in_transaction_session_timeout"]
    if root.info.server_version >= 170_000:
        names.append("transaction_timeout")
    monkeypatch.setenv("SHOP_URL", server.url_of("postgres", "captures", SECRET))
    try:
        for name in names:
            root.execute(f"ALTER ROLE captures SET {name} = '17s'")
        asked = "SELECT setting FROM pg_settings WHERE name = ANY (%s)"
        said = "SELECT current_setting('row_security')"
        with Server("${env:SHOP_URL}").connected("copy", autocommit=False) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            exported, _ = copying._exported(connection)
            assert set(connection.execute(asked, (names,)).fetchall()) == {("0",)}
            assert connection.execute(said).fetchone() == ("off",)
            # The copy through Java begins with these statements.
            with psycopg.connect(server.url_of("postgres", "captures", SECRET)) as beside:
                beside.execute(session_statements(exported).encode())
                assert set(beside.execute(asked, (names,)).fetchall()) == {("0",)}
                assert beside.execute(said).fetchone() == ("off",)
    finally:
        root.execute("ALTER ROLE captures RESET ALL")


def left_nothing(folder: Path, root: psycopg.Connection[Any]) -> None:
    assert root.execute(OURS).fetchone() == (0,)
    assert not list((folder / "w").glob("mirrors/*"))
    with Chain(folder / "w", "postgresql://nowhere/x") as chain:
        assert chain.catalog.sources() == ()
        assert chain.catalog.traces() == []


def test_a_server_that_is_down_is_a_wrong_address_when_a_source_is_added(
    tmp_path: Path, root: psycopg.Connection[Any]
) -> None:
    address = "postgresql://captures@127.0.0.1:1/postgres"
    added = run(tmp_path / "w", "source", "add", "keyed", "--postgres", address, "--table", "keyed")
    assert added.code == 2
    assert "127.0.0.1:1/postgres cannot be reached" in added.err
    assert len(added.err.splitlines()) <= 3
    left_nothing(tmp_path, root)


def test_a_server_that_goes_down_later_is_a_bad_answer_of_what_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_server(fsync="off") as server:
        with psycopg.connect(server.url, autocommit=True) as root:
            root.execute("CREATE TABLE keyed (id int PRIMARY KEY)")
        monkeypatch.setenv("SHOP_URL", server.url)
        with Chain(tmp_path / "w", "${env:SHOP_URL}") as chain:
            chain.add("keyed")
        assert run(tmp_path / "w", "create", "s", "SELECT id FROM keyed").code == 0
        server.stop(how="immediate")
        try:
            for command in (["refresh", "s"], ["source", "drop", "keyed"]):
                answer = run(tmp_path / "w", *command)
                assert answer.code == 1, answer
                assert "${env:SHOP_URL} did not answer" in answer.err + answer.out
                assert len(answer.err.splitlines()) <= 3
            status = run(tmp_path / "w", "wal", "status")
            assert status.code == 0
            assert "did not answer" in status.out
        finally:
            server.start()
