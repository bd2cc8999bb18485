"""Tokens with scopes, people whom a proxy names, and who did what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.errors import ConfigError
from streamtables.settings import Settings
from streamtables.web.app import build_app
from streamtables.web.tokens import WebToken, actor_of, named_tokens
from tests.unit.web.conftest import BEARER, TOKEN

READER, OPERATOR = "reader-0123456789abcdef", "operator-0123456789abcdef"
OWN = {"Origin": "http://localhost"}


@contextmanager
def served(
    folder: Path, *, peer: str = "127.0.0.1", **given: Any
) -> Iterator[tuple[TestClient, StreamTables]]:
    with (
        StreamTables(folder / "warehouse", settings=Settings(**given)) as db,
        TestClient(
            build_app(db, token=TOKEN), base_url="http://localhost", client=(peer, 1)
        ) as client,
    ):
        yield client, db


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("READER_TOKEN", READER)
    (tmp_path / "operator").write_text(OPERATOR + "\n")
    return f"board:read=${{env:READER_TOKEN}}, ci:operate=${{file:{tmp_path}/operator}}"


def test_a_scope_is_what_its_token_may(tmp_path: Path, tokens: str):
    with served(tmp_path, web_tokens=tokens) as (client, db):
        assert client.post("/api/pause", headers=bearer(READER)).status_code == 403
        assert client.post("/api/pause", headers=bearer(OPERATOR)).status_code == 200
        assert client.post("/api/resume", headers=BEARER).status_code == 200
        assert [(event.subject, event.text) for event in db.audit_log()] == [
            ("all", "resume by token main"),
            ("all", "pause by token ci"),
        ]
        assert db.events() == []


def test_a_session_has_the_scope_of_its_token(tmp_path: Path, tokens: str):
    with served(tmp_path, web_tokens=tokens) as (client, _):
        assert client.post("/api/log_in", headers=OWN, json={"token": READER}).status_code == 200
        assert client.post("/api/pause", headers=OWN).status_code == 403
        assert 'data-unlocked="yes"' not in client.get("/").text


def test_looking_can_need_a_token(tmp_path: Path, tokens: str):
    with served(tmp_path, web_tokens=tokens, web_read_needs_token=True) as (client, _):
        for address in ("/", "/api/status", "/metrics", "/events", "/api/jobs"):
            assert client.get(address).status_code == 401, address
            assert client.get(address, headers=bearer("wrong" * 5)).status_code == 401
            assert client.get(address, headers=bearer(READER)).status_code == 200, address
        assert client.get("/healthz").status_code == 200
        client.post("/api/log_in", headers=OWN, json={"token": READER})
        assert client.get("/").status_code == 200


def test_a_header_is_believed_only_when_set_and_from_its_proxy(tmp_path: Path):
    said = {"X-User": "ann", **OWN}
    named = {"web_trusted_user_header": "X-User", "web_operators": "ann, bob"}
    with served(tmp_path / "a", web_operators="ann") as (client, _):
        assert client.post("/api/pause", headers=said).status_code == 401
    with served(tmp_path / "b", peer="10.0.0.9", **named) as (client, _):
        assert client.post("/api/pause", headers=said).status_code == 401
    with served(tmp_path / "c", **named) as (client, db):
        assert client.post("/api/pause", headers=said).status_code == 200
        assert client.post("/api/pause", headers={**said, "X-User": "eve"}).status_code == 403
        twice = [("X-User", "eve"), ("X-User", "ann"), *OWN.items()]
        assert client.post("/api/pause", headers=twice).status_code == 401
        # A proxy adds the header to what another site's page made a browser send, too.
        assert client.post("/api/pause", headers={"X-User": "ann"}).status_code == 403
        assert [event.text for event in db.audit_log()] == ["pause by proxy user ann"]
    with served(tmp_path / "d", peer="10.0.0.9", web_trusted_peers="10.0.0.0/24", **named) as (
        client,
        _,
    ):
        assert client.post("/api/pause", headers=said).status_code == 200


def test_a_name_cannot_forge_a_line_of_the_audit(tmp_path: Path):
    name = "ann|by root"
    with served(tmp_path, web_trusted_user_header="X-User", web_operators=name) as (client, db):
        client.post("/api/pause", headers={"X-User": name, **OWN})
        assert db.audit_log()[0].text == "pause by proxy user ann?by root"


def test_every_token_is_compared():
    tokens = [WebToken.of("a", "read", READER), WebToken.of("b", "operate", OPERATOR)]
    found = actor_of(tokens, OPERATOR)
    assert found is not None
    assert (found.name, found.scope) == ("token b", "operate")
    assert actor_of(tokens, "") is None
    assert actor_of(tokens, READER[:-1]) is None
    assert READER not in repr(tokens)


@pytest.mark.parametrize(
    "value", ["ci:operate=plain-secret-0123456789", "ci:admin=${env:X}", "ci=${env:X}", "x"]
)
def test_only_references_are_tokens(value: str):
    with pytest.raises(ConfigError):
        Settings(web_tokens=value)


def test_short_tokens_and_names_given_twice_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHORT", "abc")
    monkeypatch.setenv("LONG", READER)
    for value in ("ci:read=${env:SHORT}", "ci:read=${env:LONG},ci:operate=${env:LONG}"):
        with pytest.raises(ConfigError) as refused:
            named_tokens(Settings(web_tokens=value))
        assert READER not in str(refused.value)
    with pytest.raises(ConfigError), served(tmp_path, web_trusted_peers="1.2.3.4.5"):
        pass
