"""Explain and validate as a person asks for them; nothing here starts Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.cli import main
from tests.e2e.docs.blocks import all_blocks
from tests.support.settings import settings_with
from tests.support.shop import open_shop

THREE = """SELECT a.id, b.region, c.region AS other FROM orders a
JOIN customers b ON a.customer = b.id JOIN customers c ON b.region = c.region"""
DEEP = "deep_join_l0_scan_threshold"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    settings = settings_with(deep_join_l0_scan_threshold=1, part3_max_scan_count=1)
    with StreamTables(tmp_path / "warehouse", settings=settings) as opened:
        open_shop(opened, tmp_path)
        yield opened


def crossings(db: StreamTables, name: str) -> list[str]:
    return [event.text for event in db.events(name) if event.kind == "threshold-crossed"]


def test_crossing_a_threshold_is_told_once_with_value_and_advice(db: StreamTables):
    db.create("wide", THREE)
    told = crossings(db, "wide")
    assert len(told) == 2
    assert told[-1].startswith(f"{DEEP} is 1, the query has 3: tables before a change are read")
    assert "make a stream table of a part of the join" in told[-1]
    db.alter("wide", tier="warm")
    db.alter("wide", query=THREE)
    assert crossings(db, "wide") == told


def test_a_query_within_the_thresholds_tells_nothing(db: StreamTables):
    db.create("narrow", "SELECT id FROM orders")
    assert crossings(db, "narrow") == []
    db.alter("narrow", query=THREE)
    assert len(crossings(db, "narrow")) == 2


def test_validate_shows_what_a_query_crosses_before_it_is_created(db: StreamTables):
    found = db.validate(THREE)
    assert f"{DEEP}  3 of 1" in found.text
    assert "crossed" in found.text
    assert found.data["thresholds"][0]["crossed"] is True  # type: ignore[index]  # plain values
    assert "past" not in found.data
    assert found.svg.startswith("<svg")


def test_explain_has_no_past_before_the_first_refresh(db: StreamTables):
    db.create("wide", THREE)
    found = db.explain("wide")
    assert found.text.startswith("stream table wide  mode auto  full allow\n")
    assert found.data["past"] is None
    assert "last refresh" not in found.text
    assert found.text.index("cost of a change") < found.text.index("delta SQL")
    json.dumps(found.data)


def test_the_command_writes_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with StreamTables(tmp_path / "warehouse") as db:
        open_shop(db, tmp_path)
        db.create("wide", THREE)
    picture = tmp_path / "wide.svg"
    warehouse = str(tmp_path / "warehouse")
    assert main(["explain", "wide", "-w", warehouse, "--svg", str(picture), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["table"] == "wide"
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_the_explanation_on_the_page_is_the_one_that_is_given(tmp_path: Path):
    blocks = [item for item in all_blocks() if item.page == "docs/explain.md"]
    [query] = [item.text for item in blocks if item.language == "sql"]
    [shown] = [item.text for item in blocks if item.language == "text"]
    with StreamTables(tmp_path / "warehouse") as db:
        open_shop(db, tmp_path)
        db.create("sales", query)
        given = db.explain("sales").text.splitlines()
    head = shown[: shown.index("\nlast refresh\n")].splitlines()
    assert given[: len(head)] == head
