"""Many readers cost as much as one; what is kept is never older than what happened."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from streamtables.api import StreamTables
from streamtables.web.facts import Facts
from tests.support.large_catalog import fill_catalog
from tests.support.web_warehouse import WebWarehouse
from tests.unit.web.conftest import client_of, shared


class Asked:
    """Counts questions, and answers with their number."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.times = 0
        self.seconds = seconds

    def __call__(self, _: StreamTables) -> int:
        self.times += 1
        sleep(self.seconds)
        return self.times


def test_an_answer_is_kept_until_something_happens(own_shop: WebWarehouse):
    now = [0.0]
    facts, ask = Facts(own_shop.db, clock=lambda: now[0]), Asked()
    assert facts.get("x", ask, 60.0) == 1
    now[0] += 1.0
    assert facts.get("x", ask, 60.0) == 1
    own_shop.note("sales.large")
    now[0] += 1.0
    assert facts.get("x", ask, 60.0) == 2
    now[0] += 61.0
    assert facts.get("x", ask, 60.0) == 3


@pytest.mark.parametrize("change", ["refresh", "begin", "pause", "event", "define", "gate"])
def test_whatever_happens_moves_the_mark(own_shop: WebWarehouse, change: str):
    db = own_shop.db
    before = db.activity_mark()
    assert db.activity_mark() == before
    if change == "refresh":
        own_shop.fill("sales.large", pa.table({"id": [1]}))
    elif change == "begin":
        own_shop.note("sales.large", state="running", finished_at=None)
    elif change == "pause":
        db.pause("sales.large")
    elif change == "event":
        from datetime import UTC, datetime

        from streamtables.catalog.scheduler_models import Event

        db._catalog.record_events([Event(datetime.now(UTC), "leader", "x leads")])
    elif change == "define":
        db.create("another", "SELECT id FROM orders")
    else:
        db.close_gate("orders")
    assert db.activity_mark() != before


def test_what_takes_long_is_asked_rarely(own_shop: WebWarehouse):
    now = [0.0]

    def slow(_: StreamTables) -> float:
        now[0] += 2.0
        return now[0]

    facts = Facts(own_shop.db, clock=lambda: now[0])
    assert facts.get("x", slow, 0.0) == 2.0
    own_shop.note("sales.large")
    now[0] += 7.0
    assert facts.get("x", slow, 0.0) == 2.0
    now[0] += 2.0
    assert facts.get("x", slow, 0.0) > 10.0


def test_fifty_readers_at_once_ask_once(own_shop: WebWarehouse):
    facts, ask = Facts(own_shop.db), Asked(0.2)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: facts.get("x", ask, 60.0), range(50)))
    assert answers == [1] * 50


def test_a_change_from_here_is_seen_at_once(own_shop: WebWarehouse):
    facts, ask = Facts(own_shop.db), Asked(0.3)
    assert facts.get("x", ask, 60.0) == 1
    facts.forget()
    assert facts.get("x", ask, 60.0) == 2


def test_fifty_pollers_of_a_thousand_tables_cost_few_statements(tmp_path: Path):
    with StreamTables(tmp_path / "warehouse") as db:
        fill_catalog(db)
        shop = WebWarehouse(db, None, None)  # type: ignore[arg-type]  # no source is on disk
        with client_of(shop) as client:
            assert client.get("/api/status").status_code == 200
            before = db._catalog.queries
            for _ in range(50):
                assert client.get("/api/status").status_code == 200
                assert client.get("/api/conditions").status_code == 200
            asked = db._catalog.queries - before
    # Each look at the mark is two statements, and one serves a fifth of a second.
    assert asked < 150


def test_samples_begin_with_the_application(client: TestClient):
    until = 50
    while not shared(client).samples.of() and until:
        sleep(0.1)
        until -= 1
    assert shared(client).samples.of()[0].behind == 4
