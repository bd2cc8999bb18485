"""`streamtables publication`: what it asks, what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from streamtables.errors import DeliveryError, PositionRefusedError
from streamtables.publications import PublicationStatus, SubscriberStatus
from streamtables.publish.delivery import Pushed
from tests.unit.cli.conftest import Result
from tests.unit.cli.fake_database import FakeDatabase

Run = Callable[..., Result]
TAKER = SubscriberStatus("s", "pull", 3, 4, "behind", datetime(2030, 1, 1, tzinfo=UTC), "")


@pytest.fixture
def found(db: FakeDatabase) -> Any:
    batch = pa.record_batch({"id": [1, 2], "__st_weight": [1, -1]})
    db.published_changes = SimpleNamespace(
        publication="p",
        incarnation="i",
        after=3,
        upto=5,
        current=7,
        reset="",
        key="p:i:3:5",
        batches=iter([batch]),
    )
    return db.published_changes


@pytest.mark.parametrize(
    ("words", "method", "args", "given"),
    [
        (["create", "t"], "publish", ("t", None), {}),
        (["create", "t", "--name", "p"], "publish", ("t", "p"), {}),
        (["drop", "p"], "unpublish", ("p",), {}),
        (["unsubscribe", "p", "s"], "unsubscribe", ("p", "s"), {}),
        (["ack", "p", "s", "7"], "acknowledge", ("p", "s", 7), {"incarnation": None}),
        (
            ["subscribe", "p", "s", "--from", "4", "--expire-after", "30d"],
            "subscribe",
            ("p", "s", 4),
            {"to": None, "expire_after": "30d"},
        ),
        (
            ["subscribe", "p", "s", "--to", "kind=webhook", "--to", "address=${env:A}"],
            "subscribe",
            ("p", "s", None),
            {"to": {"kind": "webhook", "address": "${env:A}"}, "expire_after": None},
        ),
    ],
)
def test_each_command_asks_for_what_it_says(
    run: Run, db: FakeDatabase, words: list[str], method: str, args: Any, given: Any
) -> None:
    result = run("publication", *words)
    assert (result.code, result.err) == (0, "")
    assert db.asked(method) == [(args, given)]


def test_the_list_shows_subscribers_and_how_far_they_are(run: Run, db: FakeDatabase) -> None:
    db.published = [PublicationStatus("p", "t", 7, "i", "active", (TAKER,))]
    out = run("publication", "list").out
    assert "behind" in out
    [item] = run("publication", "list", "--json").json
    assert item["subscribers"][0]["lag_versions"] == 4
    db.published = []
    assert "nothing is published" in run("publication", "list").out


def test_changes_as_json_are_lines_that_begin_and_end(run: Run, found: Any) -> None:
    lines = [
        json.loads(line)
        for line in run("publication", "changes", "p", "s", "--json").out.splitlines()
    ]
    assert [line["kind"] for line in lines] == ["begin", "row", "row", "end"]
    assert lines[2] == {"kind": "row", "weight": -1, "row": {"id": 2}}
    assert (lines[0]["after"], lines[3]["rows"]) == (3, 2)


def test_changes_for_people_say_why_they_begin_anew(run: Run, found: Any) -> None:
    found.reset = "the table was made anew"
    assert "made anew" in run("publication", "changes", "p", "s").out


def test_a_push_that_failed_is_shown_and_fails(run: Run, db: FakeDatabase) -> None:
    db.pushes = [Pushed("p", "s", 3, 0, 0, DeliveryError("it did not arrive"))]
    result = run("publication", "push", "p", "--json")
    assert (result.code, result.json[0]["error"]["code"]) == (1, "ST-3004")
    assert "it did not arrive" in result.err


def test_bad_input_exits_with_two(run: Run, db: FakeDatabase) -> None:
    assert run("publication", "subscribe", "p", "s", "--to", "nothing").code == 2
    assert run("publication", "ack", "p", "s", "many").code == 2
    assert db.asked("subscribe") == []
    db.error = PositionRefusedError("no")
    assert run("publication", "ack", "p", "s", "9").code == 2
