"""A refresh and a proof that are started over HTTP, on real tables."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.web.app import build_app
from tests.support.shop import REVENUE, change, open_shop

pytestmark = pytest.mark.spark
BEARER = {"Authorization": "Bearer a token of the tests"}


def ended(client: TestClient, address: str) -> dict[str, Any]:
    """Start something, and return it when it has ended."""
    job = client.post(address, headers=BEARER).json()["id"]
    until = monotonic() + 300
    while monotonic() < until:
        found: dict[str, Any] = client.get(f"/api/jobs/{job}").json()
        if found["state"] != "running":
            return found
        sleep(0.1)
    raise AssertionError("the job did not end")


def test_a_table_is_refreshed_proved_and_read_over_http(db: StreamTables, tmp_path: Path):
    shop = open_shop(db, tmp_path)
    db.create("revenue", REVENUE)
    app = build_app(db, token="a token of the tests")
    with TestClient(app, base_url="http://localhost") as client:
        filled = ended(client, "/api/refresh/revenue")
        assert filled["error"] is None
        assert filled["result"]["mode"] == "full"
        change(shop)
        found = {item["name"]: item for item in client.get("/api/conditions").json()}
        assert found["revenue"]["condition"] == "behind"
        done = ended(client, "/api/refresh/revenue")
        assert done["result"]["mode"] == "differential"
        assert done["result"]["rows_inserted"] > 0
        proved = ended(client, "/api/verify/revenue")
        assert proved["result"]["equal"] is True
        rows = client.get("/api/read_rows/revenue").json()["rows"]
        assert len(rows) == db.status()[0].rows
        page = client.get("/tables/revenue").text
        assert "Equal to its query." in page
        found = {item["name"]: item for item in client.get("/api/conditions").json()}
        assert found["revenue"]["condition"] == "fresh"
