"""Publications over HTTP: lines, Arrow, resuming, and acknowledging with the token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from streamtables.web.app import build_app
from tests.support.published import Shelf, open_shelf
from tests.unit.web.conftest import BEARER, TOKEN

ARROW = {"Accept": "application/vnd.apache.arrow.stream"}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    opened = open_shelf(tmp_path)
    opened.fill("t", (1, "a"))
    opened.db.publish("t", "p")
    opened.db.subscribe("p", "s")
    opened.append("t", (2, None))
    opened.append("t", (3, "c"))
    yield opened
    opened.db.close()


@pytest.fixture
def web(shelf: Shelf) -> Iterator[TestClient]:
    with TestClient(build_app(shelf.db, token=TOKEN), base_url="http://localhost") as client:
        yield client


def test_lines_begin_with_what_they_are_and_end_with_their_number(web: TestClient) -> None:
    answer = web.get("/api/changes/p", params={"subscriber": "s"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    begin, *rows, end = [json.loads(line) for line in answer.text.splitlines()]
    assert (begin["after"], begin["upto"], begin["reset"]) == (0, 2, "")
    assert sorted(row["row"]["id"] for row in rows) == [2, 3]
    assert end == {"kind": "end", "upto": 2, "rows": 2}


def test_arrow_holds_the_same_and_says_what_it_is(web: TestClient) -> None:
    answer = web.get("/api/changes/p", params={"subscriber": "s", "limit": 1}, headers=ARROW)
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.to_pylist() == [{"id": 2, "note": None, "__st_weight": 1}]
    head = json.loads(table.schema.metadata[b"streamtables"])
    assert (head["after"], head["upto"], head["current"]) == (0, 1, 2)


def test_a_reader_resumes_and_acknowledges(web: TestClient, shelf: Shelf) -> None:
    asked = {"subscriber": "s", "after": 1}
    begin, row, _ = web.get("/api/changes/p", params=asked).text.splitlines()
    assert json.loads(begin)["after"] == 1
    assert json.loads(row)["row"]["id"] == 3
    body = {"subscriber": "s", "version": 2}
    assert web.post("/api/acknowledge/p", json=body).status_code == 401
    assert shelf.db.publications()[0].subscribers[0].acknowledged == 0
    assert web.post("/api/acknowledge/p", json=body, headers=BEARER).status_code == 200
    [item] = web.get("/api/publications").json()
    assert item["subscribers"][0]["acknowledged"] == 2
    stale = web.post("/api/acknowledge/p", json={**body, "version": 1}, headers=BEARER)
    assert (stale.status_code, stale.json()["code"]) == (400, "ST-1501")


def test_a_table_made_anew_is_a_reset_over_http(web: TestClient, shelf: Shelf) -> None:
    shelf.remake("t", (9, "z"))
    begin, row, _ = web.get("/api/changes/p", params={"subscriber": "s"}).text.splitlines()
    assert json.loads(begin)["reset"] == "the table was made anew"
    assert json.loads(row)["row"] == {"id": 9, "note": "z"}


def test_what_is_wrong_is_refused(web: TestClient) -> None:
    assert web.get("/api/changes/q", params={"subscriber": "s"}).status_code == 404
    assert web.get("/api/changes/p", params={"subscriber": "x"}).status_code == 404
    assert web.get("/api/changes/p").status_code == 422
    asked = {"subscriber": "s", "after": 99}
    assert web.get("/api/changes/p", params=asked).status_code == 400
