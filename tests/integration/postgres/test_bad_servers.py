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
from tests.support.postgres_chain import Chain
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
