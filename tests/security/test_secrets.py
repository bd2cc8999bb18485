"""Passwords, tokens and addresses that were planted are found in no output, file or page."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.cli.app import main
from streamtables.errors import StreamTablesError
from streamtables.settings import load_settings
from streamtables.web.app import build_app
from tests.support.delta_tables import DeltaTableFile

CANARY = "Canary7Password"
URL = f"postgresql://ann:{CANARY}@127.0.0.1:1/shop?sslpassword={CANARY}"
HOOK = f"http://127.0.0.1:1/{CANARY}"
TOKEN = f"{CANARY}-0123456789"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SHOP_URL", URL)
    monkeypatch.setenv("BROKEN_URL", f"postgresql://ann:{CANARY}@[bad/{CANARY}")
    monkeypatch.setenv("STREAMTABLES_WEB_TOKEN", TOKEN)
    monkeypatch.setenv("STREAMTABLES_WEBHOOK_URL", HOOK)
    monkeypatch.setenv("STREAMTABLES_WEBHOOK_RETRIES", "0")
    (tmp_path / "secret").write_bytes(f"{CANARY}\xff".encode("latin-1"))
    return tmp_path


def files_hold_no_secret(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "secret":
            assert CANARY.encode() not in path.read_bytes(), path


ADDRESSES = ("${env:SHOP_URL}", "${env:BROKEN_URL}", "${file:%s/secret}", URL, f"mysql://a:{CANARY}@x/y",
             f"postgresql://a:{CANARY}@host:notaport/x")  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_source_that_fails(
    planted: Path, address: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    address = address.replace("%s", str(planted))
    words = [
        "--debug",
        "source",
        "add",
        "-w",
        str(planted / "w"),
        "--postgres",
        address,
        "--table",
        "a.b",
        "x",
    ]
    assert main(words) in (1, 2)
    said = capfd.readouterr()
    assert "error[ST-" in said.err
    assert CANARY not in said.err + said.out + caplog.text
    files_hold_no_secret(planted)


@pytest.mark.parametrize(
    "catalog", ["${env:SHOP_URL}", URL, f"postgresql://ann:{CANARY}@h:x/y", f"odd://u:{CANARY}@h/d"]
)
def test_a_catalog_that_fails(
    planted: Path, catalog: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    assert main(["--debug", "--catalog", catalog, "status", "-w", str(planted / "w")]) in (1, 2)
    said = capfd.readouterr()
    assert "error[ST-" in said.err
    assert CANARY not in said.err + said.out + caplog.text


def test_pages_answers_and_metrics(planted: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    source = DeltaTableFile(planted / "t", {"id": "int"}, [(1,)])
    with StreamTables(planted / "w") as db:
        db.add_source("t", path=source.path)
        db.create("x", "SELECT id FROM t")
        with pytest.raises(StreamTablesError):
            db.add_source("p", postgres="${env:SHOP_URL}", table="a.b")
        app = build_app(db, token=TOKEN)
        with TestClient(app, base_url="http://localhost") as client:
            paths = client.get("/api/openapi.json").json()["paths"]
            looks = [path for path, methods in paths.items() if "get" in methods]
            texts = [
                client.get(
                    path.replace("{name}", "x").replace("{id}", "x"),
                    params={"query": "SELECT id FROM t"},
                ).text
                for path in looks
            ]
            texts += [
                client.get(path).text
                for path in (
                    "/",
                    "/graph",
                    "/tables/x",
                    "/sources",
                    "/workers",
                    "/events",
                    "/sql",
                    "/metrics",
                )
            ]
            wrong = client.post(
                "/api/log_in", headers={"Origin": "http://localhost"}, json={"token": 7, "x": TOKEN}
            )
            answers = client.post(
                "/api/pause",
                headers={"Authorization": f"Bearer {TOKEN}"},
                json={"name": 7, "reason": TOKEN},
            )
            texts += [wrong.text, answers.text, db.metrics_text(), repr(db.settings), repr(app)]
        assert len(texts) > 25
        assert not [text for text in texts if CANARY in text]
    assert CANARY not in caplog.text
    files_hold_no_secret(planted)


def test_a_setting_that_is_refused_does_not_repeat_its_value():
    for name in ("web_token", "webhook_url"):
        with pytest.raises(StreamTablesError) as refused:
            load_settings(environment={f"STREAMTABLES_{name.upper()}": f"{CANARY} \x00"})
        assert CANARY not in f"{refused.value.message}{refused.value.detail}{refused.value.hint}"
