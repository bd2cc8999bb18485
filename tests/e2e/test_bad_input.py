"""Bad input, as a person meets it: a clear error with a code, exit 2, and nothing changed."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.catalog import Catalog, default_location
from streamtables.cli import main
from streamtables.demo.postgres_server import PostgresServer, running_server
from tests.support.delta_tables import DeltaTableFile


@dataclass(frozen=True)
class Answer:
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad-input")
    DeltaTableFile(
        folder / "orders",
        {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)", "paid": "boolean"},
        [(1, 10, "5.00", True)],
    )
    DeltaTableFile(folder / "customers", {"id": "bigint", "region": "string"}, [(10, "north")])
    write_deltalake(str(folder / "no_feed"), pa.table({"a": [1]}))
    (folder / "empty").mkdir()
    scripts = {
        "broken_sql/a.sql": "CREATE STREAM TABLE x AS SELECT FROM orders",
        "wrong_statement/a.sql": "DROP TABLE orders",
        "cycle/a.sql": "CREATE STREAM TABLE one AS SELECT id FROM two;\n"
        "CREATE STREAM TABLE two AS SELECT id FROM one",
        "twice/a.sql": "CREATE STREAM TABLE same AS SELECT id FROM orders",
        "twice/b.sql": "CREATE STREAM TABLE same AS SELECT id FROM orders",
    }
    for name, text in scripts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for command in (
        ["source", "add", "orders", "--path", str(folder / "orders"), "--key", "id"],
        ["source", "add", "customers", "--path", str(folder / "customers")],
        ["create", "totals", "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"],
        ["create", "big", "SELECT * FROM totals WHERE total > 1"],
    ):
        assert run(folder, *command).exit_code == 0
    return folder


def run(folder: Path, *command: str) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["--warehouse", str(folder / "warehouse"), *command])
    return Answer(code, out.getvalue(), err.getvalue())


def fingerprint(folder: Path) -> dict[str, str]:
    """Return what the warehouse holds beside the catalog, which `status` shows."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / "warehouse").rglob("*"))
        if path.is_file() and "catalog.db" not in path.name
    }


def refuses(folder: Path, code: str, *command: str) -> Answer:
    before, names = fingerprint(folder), run(folder, "status", "--json").stdout
    result = run(folder, *command)
    assert result.exit_code == 2, result.output
    assert (f"error[{code}" if code else "error") in result.stderr.lower().replace("st-", "ST-")
    assert "Traceback" not in result.output
    assert fingerprint(folder) == before
    assert run(folder, "status", "--json").stdout == names
    return result


QUERIES = {
    "syntax": ("SELEC id FROM orders", "ST-1"),
    "cut off": ("SELECT id FROM", "ST-1101"),
    "unclosed string": ("SELECT 'a FROM orders", "ST-1101"),
    "unclosed parenthesis": ("SELECT sum(amount FROM orders", "ST-1101"),
    "two statements": ("SELECT id FROM orders; SELECT id FROM orders", "ST-1101"),
    "not a query": ("DROP TABLE orders", "ST-1"),
    "insert": ("INSERT INTO orders VALUES (1)", "ST-1"),
    "unknown table": ("SELECT id FROM nowhere", "ST-1102"),
    "unknown column": ("SELECT nme FROM orders", "ST-1102"),
    "unknown column of a table": ("SELECT o.nme FROM orders o", "ST-1102"),
    "unknown alias": ("SELECT x.* FROM orders o", "ST-1102"),
    "unknown function": ("SELECT summ(amount) AS s FROM orders", "ST-1102"),
    "ambiguous column": ("SELECT id FROM orders JOIN customers ON region = 'a'", "ST-1102"),
    "not grouped": ("SELECT customer, amount, count(*) AS n FROM orders GROUP BY 1", "ST-1102"),
    "aggregate in where": ("SELECT id FROM orders WHERE sum(amount) > 1", "ST-110"),
    "aggregate of an aggregate": ("SELECT sum(count(*)) AS s FROM orders", "ST-1103"),
    "group by an unknown position": ("SELECT customer FROM orders GROUP BY 7", "ST-1102"),
    "two columns of one name": ("SELECT id, customer AS id FROM orders", "ST-1102"),
    "reserved name": ("SELECT id AS __st_weight FROM orders", "ST-1102"),
    "a name with a blank": ("SELECT id AS `order id` FROM orders", "ST-1305"),
    "a column without a name": ("SELECT count(*) FROM orders", "ST-1305"),
    "sum of a boolean": ("SELECT sum(paid) AS s FROM orders", "ST-1103"),
    "arithmetic on a boolean": ("SELECT paid + 1 AS p FROM orders", "ST-1103"),
    "condition that is a number": ("SELECT id FROM orders WHERE amount", "ST-1103"),
    "union of different widths": (
        "SELECT id FROM orders UNION SELECT id, region FROM customers",
        "ST-1103",
    ),
    "sum without an argument": ("SELECT sum() AS s FROM orders", "ST-1103"),
    "column aliases that do not fit": (
        "SELECT a FROM (SELECT id, customer FROM orders) AS x(a)",
        "ST-1102",
    ),
    "a fixed version": ("SELECT id FROM orders VERSION AS OF 0", "ST-1202"),
}

REQUESTS = {
    "name taken": (["create", "totals", "SELECT id FROM orders"], "ST-1303"),
    "name of a source": (["create", "orders", "SELECT id FROM customers"], "ST-1303"),
    "name with a blank": (["create", "a b", "SELECT id FROM orders"], "ST-1305"),
    "reserved table name": (["create", "__st_x", "SELECT id FROM orders"], "ST-1305"),
    "reads itself": (["create", "totals", "SELECT * FROM totals", "--replace"], "ST-1301"),
    "cycle": (["alter", "totals", "--query", "SELECT customer, total FROM big"], "ST-1301"),
    "unknown mode": (["create", "x", "SELECT id FROM orders", "--mode", "quick"], ""),
    "unknown policy": (["create", "x", "SELECT id FROM orders", "--full", "never"], ""),
    "unknown option": (["create", "x", "SELECT id FROM orders", "--option", "a=1"], "ST-1401"),
    "odd schedule": (["create", "x", "SELECT id FROM orders", "--schedule", "soon"], "ST-1401"),
    "differential without a plan": (
        ["create", "x", "SELECT rand() AS r FROM orders", "--mode", "differential"],
        "ST-1201",
    ),
    "unknown stream table": (["refresh", "totls"], "ST-1302"),
    "history of nothing": (["history", "nothing"], "ST-1302"),
    "explain of nothing": (["explain", "nothing"], "ST-1302"),
    "pause of nothing": (["pause", "nothing"], "ST-1302"),
    "drop of nothing": (["drop", "nothing"], "ST-1302"),
    "drop of a table that is read": (["drop", "totals"], "ST-1304"),
    "drop of a source that is read": (["source", "drop", "orders"], "ST-1304"),
    "source without a feed": (["source", "add", "x", "--path", "{folder}/no_feed"], "ST-1404"),
    "source with a wrong key": (
        ["source", "add", "x", "--path", "{folder}/orders", "--key", "nokey"],
        "ST-1401",
    ),
    "source without a table": (["source", "add", "x", "--path", "{folder}/nowhere"], "ST-1404"),
    "source that is no table": (["source", "add", "x", "--path", "{folder}/empty"], "ST-1404"),
    "source without a place": (["source", "add", "x"], ""),
    "read before the first fill": (["read", "totals"], "ST-1405"),
    "statement that ends too early": (["sql", "CREATE STREAM TABLE"], "ST-1101"),
    "statement with a clause twice": (
        ["sql", "CREATE STREAM TABLE x MODE full MODE auto AS SELECT id FROM orders"],
        "ST-1101",
    ),
    "folder that is not there": (["apply", "{folder}/nowhere", "--yes"], "ST-1401"),
    "folder with broken SQL": (["apply", "{folder}/broken_sql", "--yes"], "ST-1"),
    "folder with another statement": (["apply", "{folder}/wrong_statement", "--yes"], "ST-1202"),
    "folder with a cycle": (["apply", "{folder}/cycle", "--yes"], "ST-1301"),
    "folder that defines a table twice": (["apply", "{folder}/twice", "--yes"], "ST-1303"),
    "unknown command": (["refrsh"], ""),
    "unknown flag": (["status", "--nope"], ""),
}


@pytest.mark.parametrize(("query", "code"), QUERIES.values(), ids=QUERIES)
def test_a_bad_query_is_refused_with_its_code(folder: Path, query: str, code: str) -> None:
    refuses(folder, code, "create", "fresh", query)


@pytest.mark.parametrize(("command", "code"), REQUESTS.values(), ids=REQUESTS)
def test_a_bad_request_is_refused_with_its_code(
    folder: Path, command: list[str], code: str
) -> None:
    refuses(folder, code, *(part.replace("{folder}", str(folder)) for part in command))


def test_a_corrupt_catalog_file_is_named_and_left_alone(tmp_path: Path) -> None:
    catalog = tmp_path / "warehouse" / "_streamtables" / "catalog.db"
    catalog.parent.mkdir(parents=True)
    catalog.write_bytes(b"this is not a database" * 100)
    result = run(tmp_path, "status")
    assert result.exit_code != 0
    assert "error[ST-4002]" in result.stderr
    assert catalog.read_bytes() == b"this is not a database" * 100


@pytest.mark.parametrize(
    ("name", "value"),
    [("DRIVER_ROWS_MAX", "-1"), ("FULL_THRESHOLD", "2"), ("SPARK_MASTER", "?"), ("NO_SUCH", "1")],
)
def test_a_setting_out_of_bounds_is_refused_with_its_bound(
    folder: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"STREAMTABLES_{name}", value)
    result = run(folder, "status")
    assert result.exit_code == 2
    assert "error[ST-1401]" in result.stderr


def test_a_folder_where_nobody_may_write_is_named() -> None:
    """Even root may not make folders under /proc."""
    child = subprocess.run(
        [sys.executable, "-m", "streamtables.cli", "-w", "/proc/streamtables/w", "init"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode in (1, 2)
    assert child.stderr.startswith("error[ST-4")
    assert "Traceback" not in child.stderr


OURS = """
SELECT slot_name::text FROM pg_replication_slots UNION ALL SELECT pubname FROM pg_publication
UNION ALL SELECT nspname FROM pg_namespace WHERE nspname LIKE 'streamtables%'
UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
"""
TABLES = "CREATE TABLE keyed (id int PRIMARY KEY); CREATE TABLE bag (a int, b text)"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A server that logs as much as a test asks for, or a standby whose primary has gone."""
    logged = getattr(request, "param", "logical")
    wanted = {} if logged == "standby" else {"wal_level": logged}
    with running_server(fsync="off", **wanted) as started:
        with psycopg.connect(started.url, autocommit=True) as connection:
            connection.execute(TABLES.encode())
        if logged == "standby":
            started.stop()
            (started.folder / "data" / "standby.signal").touch()
            started.start()
        yield started


def refuses_to_capture(
    folder: Path, server: PostgresServer, table: str, *capture: str
) -> tuple[str, str]:
    """Return all that is said, and its hint; nothing may be left on any side."""
    where = ("--postgres", server.url, "--table", table)
    result = refuses(folder, "ST-1404]", "source", "add", "fresh", *where, *capture)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) <= 3
    [hint] = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
    with psycopg.connect(server.url) as connection:
        assert connection.execute(OURS.encode()).fetchall() == []
    with Catalog.open(default_location(folder / "warehouse")) as catalog:
        assert {source.name for source in catalog.sources()} == {"orders", "customers"}
        assert (catalog.captures(), catalog.traces()) == ({}, [])
    return result.stderr, hint


@pytest.mark.postgres
@pytest.mark.parametrize("server", ["standby"], indirect=True)
def test_a_standby_is_no_source_whichever_way_is_asked_for(
    folder: Path, server: PostgresServer
) -> None:
    for capture in ([], ["--capture", "triggers"], ["--capture", "wal"]):
        said, hint = refuses_to_capture(folder, server, "keyed", *capture)
        assert "is a standby, which is read-only" in said
        assert hint == "Give the address of its primary."


@pytest.mark.postgres
@pytest.mark.parametrize("server", ["replica"], indirect=True)
def test_a_server_that_logs_too_little_for_the_wal_is_no_source_by_it(
    folder: Path, server: PostgresServer
) -> None:
    said, hint = refuses_to_capture(folder, server, "keyed", "--capture", "wal")
    assert "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical';" in said
    assert "--capture triggers" in hint


@pytest.mark.postgres
def test_a_table_without_identity_is_no_source_by_the_wal(
    folder: Path, server: PostgresServer
) -> None:
    said, hint = refuses_to_capture(folder, server, "bag", "--capture", "wal")
    assert "public.bag has no replica identity" in said
    assert 'ALTER TABLE "public"."bag" REPLICA IDENTITY FULL;' in said
    assert "--capture triggers" in hint
