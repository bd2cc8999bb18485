"""Pushes to PostgreSQL and to a webhook, killed before each of their steps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest

from streamtables.api import StreamTables
from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.support.published import Rows, Shelf, open_shelf

pytestmark = [pytest.mark.postgres, pytest.mark.crash, pytest.mark.slow]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "place").mkdir()
    opened = open_shelf(tmp_path / "place")
    opened.fill("bag", ("a",), ("a",), (None,))
    opened.db.publish("bag")
    return opened


def _changed(shelf: Shelf) -> tuple[Path, Rows]:
    """Change the table, and close it; return its place and its rows."""
    shelf.append("bag", ("a",), ("n",))
    shelf.delete("bag", "note IS NULL")
    rows = shelf.stored("bag")
    shelf.db.close()
    return shelf.db.warehouse.parent, rows


def _forgotten(database: str) -> None:
    """Take back what an earlier try left at the target: each begins where the first one did."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS public.bag")
        connection.execute("DROP SCHEMA IF EXISTS streamtables_publish CASCADE")


@pytest.mark.fault(
    "receivers",
    "killed while it pushes to PostgreSQL",
    step="every statement, before and after the commit there",
    seen="nothing: the target has all of a window, or nothing of it",
    recovery="by itself: the next push, each change once",
)
def test_a_killed_push_to_postgres_is_ended_by_the_next_and_applied_once(
    shelf: Shelf, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARGET", database)
    target = {"kind": "postgres", "address": "${env:TARGET}", "table": "public.bag"}
    shelf.db.subscribe("bag", "copy", to=target)
    folder, rows = _changed(shelf)
    monkeypatch.setenv("PGAPPNAME", "killed")
    found = []
    for _ in killed_at_every_step(operations.push, folder):
        found.append(_copied(database))
        assert found[-1] in (None, rows)
        operations.push(folder)
        assert _copied(database) == rows
        with StreamTables(folder / "warehouse") as db:
            assert db.push() == []
        _forgotten(database)
    assert (found[0], found[-1]) == (None, rows)


def _copied(database: str) -> Rows | None:
    with psycopg.connect(database) as connection:
        if connection.execute("SELECT to_regclass('public.bag')").fetchone() == (None,):
            return None
        found = connection.execute("SELECT note, __st_count FROM public.bag").fetchall()
    return Counter({(note,): count for note, count in found})


class _Receiver(ThreadingHTTPServer):
    """Applies each window once, by its key."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.windows: dict[str, list[dict[str, Any]]] = {}
        self.posts = 0


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        receiver = self.server
        assert isinstance(receiver, _Receiver)
        receiver.posts += 1
        receiver.windows.setdefault(self.headers["Idempotency-Key"], body["rows"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Receiver]:
    server = _Receiver()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HOOK", f"http://127.0.0.1:{server.server_port}/")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.fault(
    "receivers",
    "killed while it pushes to a webhook",
    step="every step, before and after the post",
    seen="the window comes again, under the same key",
    recovery="by itself: the next push; a receiver that knows keys has each change once",
)
def test_a_killed_push_to_a_webhook_is_sent_again_under_its_key(
    shelf: Shelf, receiver: _Receiver
) -> None:
    shelf.db.subscribe("bag", "hook", to={"kind": "webhook", "address": "${env:HOOK}"})
    folder, rows = _changed(shelf)
    most = 0
    for _ in killed_at_every_step(operations.push, folder):
        operations.push(folder)
        got = Counter[tuple[object, ...]]({("a",): 2, (None,): 1})
        for part in receiver.windows.values():
            for one in part:
                got[(one["row"]["note"],)] += one["weight"]
        assert Counter({row: count for row, count in got.items() if count}) == rows
        most = max(most, receiver.posts - len(receiver.windows))
        receiver.windows.clear()
        receiver.posts = 0
    assert most == 1
