"""Names and values of every kind through every door: they work exactly, or nothing changes."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.cli.app import main
from streamtables.errors import StreamTablesError, UserError
from streamtables.web.app import build_app
from tests.support.delta_tables import DeltaTableFile

AWFUL = (
    "", " ", ".", "..", "a.", ".a", "a.b.c", "../x", "../../etc/passwd", "a/b", "/abs", "a\\b", "a b", "a'b", 'a"b', "a`b",
    "a;DROP TABLE t", "a--", "a/*", "a\nb", "a\x00b", "a\tb", "é", "名", "a\u202eb", "${env:HOME}", "%s", "{0}", "__st_x",
    "before.x", "changes.y", "x" * 200, "~", "C:\\x", "file:///x", "a#b", "a?b", "a%2e%2e", "\ud800",
)  # fmt: skip
RESERVED = ("select", "table", "order.group", "null", "1", "_", "TRUE", "where")


@pytest.fixture
def db(tmp_path: Path):
    source = DeltaTableFile(tmp_path / "t", {"id": "int"}, [(1,)])
    with StreamTables(tmp_path / "warehouse") as opened:
        opened.add_source("t", path=source.path)
        yield opened


def everything(db: StreamTables) -> object:
    folder = sorted(
        str(path) for path in db.warehouse.parent.rglob("*") if "catalog" not in path.name
    )
    return db.sources(), db.stream_tables(), db.views(), db.functions(), db.audit_log(), folder


@pytest.mark.parametrize("name", AWFUL)
def test_awful_names_are_refused_at_every_method(db: StreamTables, tmp_path: Path, name: str):
    before = everything(db)
    for change in (
        lambda: db.create(name, "SELECT id FROM t"),
        lambda: db.add_source(name, path=tmp_path / "t"),
        lambda: db.add_view(name, "SELECT id FROM t"),
        lambda: db.add_function(name, parameters={"a": "int"}, returns="int", body="a"),
        lambda: db.set_watermark_group(name, ["t", "t"]),
        lambda: db.drop(name),
        lambda: db.drop_source(name),
        lambda: db.pause(name),
        lambda: db.pause(namespace=name),
        lambda: db.close_gate(name),
        lambda: db.history(name),
        lambda: db.read_rows(name),
    ):
        with pytest.raises(UserError):
            change()
    assert everything(db) == before


@pytest.mark.parametrize("name", RESERVED)
def test_reserved_words_work_as_names(db: StreamTables, name: str):
    db.create(name, "SELECT id FROM t")
    quoted = ".".join(f"`{part}`" for part in name.split("."))
    db.create("reader", f"SELECT id FROM {quoted}")
    assert {table.name for table in db.stream_tables()} == {name, "reader"}
    for table in db.stream_tables():
        inside = (db.warehouse / "tables").resolve()
        assert inside in Path(table.location).resolve().parents


@pytest.mark.parametrize("name", AWFUL)
def test_awful_names_in_statements(db: StreamTables, name: str):
    before = everything(db)
    for text in (
        f"CREATE STREAM TABLE `{name}` AS SELECT id FROM t",
        f"DROP STREAM TABLE `{name}`",
        f"CREATE VIEW `{name}` AS SELECT id FROM t",
    ):
        if "`" in name or name == "":
            continue
        with pytest.raises(StreamTablesError):
            db.sql(text)
    assert everything(db) == before


@pytest.mark.parametrize(
    "name", [name for name in AWFUL if "\x00" not in name and name != "\ud800"]
)
def test_awful_names_on_the_command_line(
    db: StreamTables, name: str, capsys: pytest.CaptureFixture[str]
):
    before = everything(db)
    where = ["-w", str(db.warehouse)]
    for words in (
        ["create", "--query", "SELECT id FROM t", *where, "--", name],
        ["drop", "--yes", *where, "--", name],
        ["pause", *where, "--reason", "x", "--", name or "''"],
    ):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert said.startswith("error[ST-")
        assert "Traceback" not in said
    assert everything(db) == before


@pytest.mark.parametrize("name", [*AWFUL, "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd"])
def test_awful_names_in_web_addresses(db: StreamTables, name: str):
    client = TestClient(build_app(db, token="t" * 20), base_url="http://localhost")
    safe = quote(name.encode("utf-8", "surrogatepass"), safe="")
    for address in (
        f"/tables/{safe}",
        f"/api/history/{safe}",
        f"/static/{safe}",
        f"/api/explain/{safe}",
    ):
        answer = client.get(address)
        assert "root:" not in answer.text
        assert answer.status_code < 500, (address, answer.text)
    answer = client.post(f"/api/refresh/{safe}", headers={"Authorization": "Bearer " + "t" * 20})
    assert answer.status_code in (400, 404, 405, 422)


def test_a_name_in_a_page_is_text(db: StreamTables):
    client = TestClient(build_app(db, token="t" * 20), base_url="http://localhost")
    db.create("x", "SELECT id, '<script>alert(1)</script>' AS s FROM t")
    db.pause("x", "<img src=x onerror=alert(1)>")
    page = client.get("/tables/x").text + client.get("/").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"DROP STREAM TABLE x",
        b"CREATE STREAM TABLE `../x` AS SELECT id FROM t",
        b"\x00",
        b"SELECT 1",
    ],
)
def test_awful_files_of_a_folder_change_nothing(db: StreamTables, tmp_path: Path, content: bytes):
    folder = tmp_path / "it's `awful`; 名"
    folder.mkdir()
    (folder / "a';--.sql").write_bytes(content)
    (folder / "folder.sql").mkdir()
    before = everything(db)
    with pytest.raises(UserError):
        db.apply(db.plan_apply(folder))
    assert everything(db) == before


def test_a_file_name_is_no_part_of_a_statement(db: StreamTables, tmp_path: Path):
    folder = tmp_path / "definitions"
    folder.mkdir()
    (folder / "x'; DROP STREAM TABLE y; --\n`.sql").write_text(
        "CREATE STREAM TABLE ok AS SELECT id FROM t"
    )
    db.apply(db.plan_apply(folder))
    assert [table.name for table in db.stream_tables()] == ["ok"]


@pytest.mark.parametrize(
    "location",
    [
        "s3://x y",
        "nosuch://a/b",
        "file:///no/such/place",
        "\x00",
        "http://localhost:1/x",
        "jdbc:postgresql://x",
    ],
)
def test_awful_locations_of_sources_are_refused(db: StreamTables, location: str):
    before = everything(db)
    with pytest.raises(StreamTablesError):
        db.add_source("s", path=location)
    assert everything(db) == before


def test_a_changed_catalog_cannot_have_others_folders_removed(db: StreamTables, tmp_path: Path):
    from streamtables.engine.removal import remove_own_table

    precious = tmp_path / "precious"
    precious.mkdir()
    link = db.warehouse / "tables" / "link"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(precious)
    for location in (
        str(precious),
        str(db.warehouse / "tables" / ".." / ".." / "precious"),
        str(link),
        str(db.warehouse / "tables"),
        "/",
        "s3://b/x",
    ):
        assert not remove_own_table(location, db.place)
    assert precious.is_dir()
    assert (db.warehouse / "tables").is_dir()


@pytest.mark.parametrize("value", ["'; DROP TABLE events; --", "\x00", "名`\"'", "x" * 100_000])
def test_reasons_are_kept_as_they_are(db: StreamTables, value: str):
    db.create("x", "SELECT id FROM t")
    db.pause("x", value)
    (table,) = db.stream_tables()
    assert table.state_reason == value
    json.dumps(table.state_reason)
