"""Who is let in, what is too large, and what every answer carries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from streamtables.web.access import COOKIE, Access
from streamtables.web.faults import RefusedError
from streamtables.web.guard import LARGEST_BODY
from tests.unit.web.conftest import BEARER, TOKEN

CHANGES = (
    "/api/refresh/sales.large", "/api/verify/sales.large", "/api/repair/sales.large", "/api/pause",
    "/api/resume", "/api/close_gate/orders", "/api/open_gate/orders", "/api/clear_caches",
    "/api/wake", "/api/acknowledge/news", "/api/cancel/sales.large",
)  # fmt: skip
OWN = {"Origin": "http://localhost"}


def test_every_change_of_the_description_is_among_those_tested(client: TestClient):
    paths = client.get("/api/openapi.json").json()["paths"]
    changing = {path for path, methods in paths.items() if "post" in methods}
    assert {
        address.replace("sales.large", "{name}")
        .replace("orders", "{source}")
        .replace("news", "{publication}")
        for address in CHANGES
    } == changing


@pytest.mark.parametrize("address", CHANGES)
def test_no_change_without_the_token(client: TestClient, address: str):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, OWN):
        answer = client.post(address, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["code"] == "http-401"
    assert client.get("/api/jobs").json() == []


@pytest.fixture
def logged_in(own_client: TestClient) -> Iterator[TestClient]:
    answer = own_client.post("/api/log_in", headers=OWN, json={"token": TOKEN})
    assert answer.status_code == 200
    yield own_client
    own_client.cookies.clear()


def test_a_session_changes_only_from_our_own_pages(logged_in: TestClient):
    told = {"name": "sales.large"}
    assert logged_in.post("/api/pause", headers=OWN, json=told).status_code == 200
    for headers in (
        {},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil"},
        {"Origin": "https://localhost"},
    ):
        answer = logged_in.post("/api/pause", headers=headers, json=told)
        assert answer.status_code == 403
        assert answer.json()["code"] == "http-403"


def test_the_cookie_is_kept_from_scripts_and_other_sites(own_client: TestClient):
    answer = own_client.post("/api/log_in", headers=OWN, json={"token": TOKEN})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie


def test_log_in_needs_the_token_and_our_own_origin(own_client: TestClient):
    assert own_client.post("/api/log_in", headers=OWN, json={"token": "no"}).status_code == 401
    assert own_client.post("/api/log_in", json={"token": TOKEN}).status_code == 403


def test_log_out_ends_the_session_itself(logged_in: TestClient):
    cookie = logged_in.cookies[COOKIE]
    assert 'data-unlocked="yes"' in logged_in.get("/").text
    assert logged_in.post("/api/log_out", headers=OWN).status_code == 200
    kept = {"Cookie": f"{COOKIE}={cookie}", **OWN}
    assert logged_in.post("/api/wake", headers=kept).status_code == 401


def test_too_many_wrong_tokens_wait():
    now = [0.0]
    access = Access(TOKEN, clock=lambda: now[0])
    for _ in range(20):
        with pytest.raises(RefusedError) as wrong:
            access.log_in("wrong")
        assert wrong.value.fault.status == 401
    with pytest.raises(RefusedError) as waits:
        access.log_in(TOKEN)
    assert waits.value.fault.status == 429
    now[0] = 61.0
    assert access.log_in(TOKEN)


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil", "", "localhost@evil", "127.0.0.2"]
)
def test_another_host_is_refused(client: TestClient, host: str):
    answer = client.get("/api/status", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["code"] == "http-421"


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8321", "127.0.0.1:1", "[::1]:8321", "LOCALHOST"]
)
def test_our_own_names_are_answered(client: TestClient, host: str):
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_a_large_body_is_refused_whatever_its_length_says(client: TestClient):
    large = b"x" * (LARGEST_BODY + 1)
    told = client.post("/api/pause", headers=BEARER, content=large)
    assert told.status_code == 413
    untold = client.post(
        "/api/pause", headers=BEARER, content=iter([large[:40_000], large[40_000:]])
    )
    assert untold.status_code == 413
    assert untold.json()["code"] == "http-413"


def test_a_long_address_is_refused(client: TestClient):
    assert client.get("/api/validate", params={"query": "x" * 20_000}).status_code == 414


@pytest.mark.parametrize(
    "address", ["/", "/api/status", "/api/nothing", "/static/app.js", "/healthz"]
)
def test_every_answer_carries_the_headers(client: TestClient, address: str):
    headers = client.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"


def test_a_refused_request_carries_them_too(client: TestClient):
    answer = client.get("/", headers={"Host": "evil.example"})
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_wrong_method_has_the_shape_of_all_errors(client: TestClient):
    answer = client.get("/api/pause")
    assert answer.status_code == 405
    assert answer.json()["code"] == "http-405"
    assert answer.headers["allow"] == "POST"


def test_files_outside_the_folder_are_not_served(client: TestClient):
    for address in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert client.get(address).status_code == 404
