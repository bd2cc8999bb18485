"""The JSON API: the same facts under the same names, changes as jobs, errors in one shape."""

from __future__ import annotations

import json
from threading import Event
from time import monotonic, sleep
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamtables.cli.plain import to_json
from streamtables.errors import QueryFailedError, TableDamagedError
from tests.support.web_warehouse import WebWarehouse
from tests.unit.web.conftest import BEARER

PLAIN = (
    "status", "stream_tables", "sources", "events", "graph", "standstills", "sql_support",
    "cluster_worker_summary", "worker_allocation_status", "wal_source_status",
)  # fmt: skip


def ended(client: TestClient, job: str) -> dict[str, Any]:
    """Return a job when it has ended."""
    until = monotonic() + 10
    while monotonic() < until:
        found: dict[str, Any] = client.get(f"/api/jobs/{job}").json()
        if found["state"] != "running":
            return found
        sleep(0.01)
    raise AssertionError("the job did not end")


def moments(value: object) -> object:
    """Return JSON with the moments in one spelling."""
    return json.loads(json.dumps(value).replace("+00:00", "Z"))


def settled(value: Any) -> object:
    """Return JSON without what grows while one looks."""
    rows = value if isinstance(value, list) else []
    for row in rows:
        row.pop("lag_seconds", None)
    return moments(value)


@pytest.mark.parametrize("name", PLAIN)
def test_a_fact_is_what_python_gives(client: TestClient, shop: WebWarehouse, name: str):
    answer = client.get(f"/api/{name}")
    assert answer.status_code == 200
    assert settled(answer.json()) == settled(to_json(getattr(shop.db, name)()))


def test_history_and_explain_are_what_python_gives(client: TestClient, shop: WebWarehouse):
    history = client.get("/api/history/sales.revenue", params={"limit": 3}).json()
    expected: Any = to_json(shop.db.history("sales.revenue", 3))
    for record in expected:
        del record["stream_table_id"]
    assert moments(history) == moments(expected)
    explained = client.get("/api/explain/sales.revenue").json()
    found = shop.db.explain("sales.revenue")
    assert explained == {"text": found.text, "data": to_json(found.data), "svg": found.svg}


def test_lags_and_conditions_agree(client: TestClient):
    lags = {item["name"]: item for item in client.get("/api/lags").json()}
    conditions = client.get("/api/conditions").json()
    assert {item["name"] for item in conditions} == set(lags)
    found = {item["name"]: item["condition"] for item in conditions}
    assert found["finance.promised"] == "late"
    assert found["sales.large"] == "behind"
    assert lags["sales.large"]["lag_seconds"] > 25


def test_lag_samples_begin_with_the_server(client: TestClient):
    all_tables = client.get("/api/lag_samples").json()
    one = client.get("/api/lag_samples", params={"name": "sales.large"}).json()
    assert all_tables
    assert all_tables[0]["behind"] == 4
    assert one[0]["lag_seconds"] == pytest.approx(all_tables[0]["lag_seconds"])
    assert client.get("/api/lag_samples", params={"name": "none"}).status_code == 404


def test_rows_keep_their_types_in_words(client: TestClient):
    found = client.get("/api/read_rows/sales.revenue", params={"limit": 1}).json()
    assert found["columns"][0] == {"name": "region", "type": "string"}
    assert found["rows"] == [{"region": "north", "total": 12.5, "orders": 2}]


def test_validate_explains_without_creating(client: TestClient, shop: WebWarehouse):
    answer = client.get("/api/validate", params={"query": "SELECT id FROM orders"})
    assert answer.json()["data"]["incremental"] is True
    wrong = client.get("/api/validate", params={"query": "SELECT nope FROM orders"})
    assert wrong.status_code == 400
    assert wrong.json()["code"] == "ST-1102"
    assert len(shop.db.stream_tables()) == 9


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("/api/history/nowhere", 404, "ST-1302"),
        ("/api/explain/nowhere", 404, "ST-1302"),
        ("/api/read_rows/nowhere", 404, "ST-1302"),
        ("/api/events?name=nowhere", 404, "ST-1302"),
        ("/api/read_rows/people.never", 409, "ST-1405"),
        ("/api/read_rows/sales.revenue?limit=0", 422, "http-422"),
        ("/api/refreshes_per_minute?minutes=99999", 422, "http-422"),
        ("/api/jobs/nothing", 404, "http-404"),
        ("/api/nothing", 404, "http-404"),
    ],
)
def test_errors_have_one_shape(client: TestClient, address: str, status: int, code: str):
    answer = client.get(address)
    assert answer.status_code == status
    body = answer.json()
    assert set(body) == {"code", "message", "detail", "hint"}
    assert body["code"] == code
    assert body["message"]


def test_what_nobody_foresaw_leaves_no_trace(
    client: TestClient, shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise ValueError("a secret in /somewhere/private.py")

    monkeypatch.setattr(shop.db, "explain", broken)
    answer = client.get("/api/explain/sales.revenue")
    assert answer.status_code == 500
    assert answer.json() == {
        "code": "ST-9001",
        "message": "unexpected ValueError",
        "detail": "",
        "hint": "The log of the process that serves says more.",
    }


def test_a_refresh_runs_in_the_background_and_its_result_is_kept(
    own_client: TestClient, own_shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    from streamtables.refresh.results import Reason, Refresh

    asked: list[tuple[str, bool, bool]] = []
    go_on = Event()

    def refresh(name: str, *, full: bool = False, upstream: bool = True) -> Refresh:
        asked.append((name, full, upstream))
        assert go_on.wait(10)
        return Refresh(name, "full", "applied", Reason("forced", "asked for"), 7, 2, seconds=0.5)

    monkeypatch.setattr(own_shop.db, "refresh", refresh)
    started = own_client.post("/api/refresh/sales.large", headers=BEARER, json={"full": True})
    assert started.status_code == 202
    assert started.json()["state"] == "running"
    again = own_client.post("/api/verify/SALES.large", headers=BEARER)
    assert again.status_code == 409
    assert again.json()["message"] == 'a refresh of "SALES.large" is running'
    assert "refresh of sales.large" in own_client.get("/tables/sales.large").text
    go_on.set()
    done = ended(own_client, started.json()["id"])
    assert asked == [("sales.large", True, True)]
    assert done["state"] == "done"
    assert done["result"]["rows_inserted"] == 7
    page = own_client.get("/tables/sales.large").text
    assert 'full, applied: <span data-fact="result">+7 −2 rows in 500 ms</span>' in page
    assert own_client.get("/api/jobs?name=sales.large").json() == [done]


def test_a_job_that_fails_says_why(
    own_client: TestClient, own_shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    def refresh(*_: object, **__: object) -> None:
        raise QueryFailedError("division by zero", hint="Guard the division.")

    def verify(*_: object) -> None:
        raise TableDamagedError("somebody else wrote to it")

    monkeypatch.setattr(own_shop.db, "refresh", refresh)
    monkeypatch.setattr(own_shop.db, "verify", verify)
    job = own_client.post("/api/refresh/sales.large", headers=BEARER).json()["id"]
    assert ended(own_client, job)["error"] == {
        "code": "ST-1407",
        "message": "division by zero",
        "detail": "",
        "hint": "Guard the division.",
    }
    assert "ST-1407: division by zero" in own_client.get("/tables/sales.large").text
    job = own_client.post("/api/verify/sales.large", headers=BEARER).json()["id"]
    assert ended(own_client, job)["error"]["code"] == "ST-2101"
    assert own_client.post("/api/repair/nowhere", headers=BEARER).status_code == 404


def test_pause_and_resume_show_at_once(own_client: TestClient, own_shop: WebWarehouse):
    def state() -> str:
        found = own_client.get("/api/status").json()
        return str(next(item["state"] for item in found if item["name"] == "sales.large"))

    assert state() == "active"
    told = {"name": "sales.large", "reason": "tests"}
    assert own_client.post("/api/pause", headers=BEARER, json=told).json() == {"done": True}
    assert state() == "paused"
    assert "paused" in own_client.get("/tables/sales.large").text
    own_client.post("/api/resume", headers=BEARER, json={"name": "sales.large"})
    assert state() == "active"
    assert own_shop.db.events("sales.large") == own_shop.db.events("sales.large", 100)


def test_cancel_says_whether_something_ran(own_client: TestClient, own_shop: WebWarehouse):
    assert own_client.post("/api/cancel/sales.large").status_code == 401
    answer = own_client.post("/api/cancel/sales.large", headers=BEARER)
    assert answer.json() == {"done": False}
    assert own_client.post("/api/cancel/nowhere", headers=BEARER).status_code == 404
    assert "Cancel refresh" not in own_client.get("/tables/sales.large").text


def test_namespaces_gates_and_caches(own_client: TestClient, own_shop: WebWarehouse):
    def post(address: str, body: object = None) -> int:
        return own_client.post(address, headers=BEARER, json=body).status_code

    assert post("/api/pause", {"namespace": "sales"}) == 200
    assert post("/api/close_gate/orders", {"reason": "a load"}) == 200
    found = own_client.get("/api/standstills").json()
    assert found == {
        "pauses": {"namespace:sales": "paused from the web"},
        "gates": {"orders": "a load"},
    }
    assert post("/api/resume", {"namespace": "sales"}) == 200
    assert post("/api/open_gate/orders") == 200
    assert own_client.get("/api/standstills").json() == {"pauses": {}, "gates": {}}
    assert post("/api/close_gate/nowhere") == 404
    assert post("/api/pause", {"namespace": "nowhere"}) == 404
    assert post("/api/pause", {"name": "sales.large", "namespace": "sales"}) == 400
    assert post("/api/pause", {"nme": "sales.large"}) == 422
    assert post("/api/clear_caches") == 200
    assert post("/api/wake") == 200


def test_healthz_answers_and_metrics_are_there_where_the_warehouse_has_them(
    client: TestClient, shop: WebWarehouse
):
    from streamtables.web.app import build_app

    assert client.get("/healthz").text == "ok\n"
    has = hasattr(shop.db, "metrics_text")
    assert client.get("/metrics").status_code == (200 if has else 404)

    shop.db.__dict__["metrics_text"] = lambda: "streamtables_up 1\n"
    try:
        measured = TestClient(build_app(shop.db, token="t"), base_url="http://localhost")
        answer = measured.get("/metrics")
    finally:
        del shop.db.__dict__["metrics_text"]
    assert answer.text == "streamtables_up 1\n"
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")


def test_the_description_names_every_route_and_its_errors(client: TestClient):
    described = client.get("/api/openapi.json").json()
    assert described["info"]["title"] == "streamtables"
    paths = described["paths"]
    assert {"get"} == set(paths["/api/status"])
    assert {"post"} == set(paths["/api/refresh/{name}"])
    assert paths["/api/refresh/{name}"]["post"]["security"] == [{"HTTPBearer": []}]
    assert "security" not in paths["/api/status"]["get"]
    fields = described["components"]["schemas"]["TableStatus"]["properties"]
    assert {"name", "rows", "changes_pending", "next_due_at"} <= set(fields)
    for path, methods in paths.items():
        for operation in methods.values():
            assert operation["responses"]["404"]["content"], path
