"""Who changed what, as the catalog keeps it."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.audit import CHANGES
from streamtables.errors import StreamTablesError
from tests.support.delta_tables import DeltaTableFile


def test_each_change_that_went_well_has_an_actor(tmp_path: Path):
    source = DeltaTableFile(tmp_path / "t", {"id": "int"}, [(1,)])
    with StreamTables(tmp_path / "warehouse") as db:
        db.add_source("t", path=source.path)
        db.sql("CREATE STREAM TABLE a AS SELECT id FROM t")
        db.alter("a", schedule="1 minute")
        with pytest.raises(StreamTablesError):
            db.create("a", "SELECT id FROM t")
        db.pause("a")
        db.add_view("v", "SELECT id FROM t")
        db.drop("a")
        found = [(event.text.partition(" by ")[0], event.subject) for event in db.audit_log()]
        assert found == [
            ("drop", "a"), ("add_view", "v"), ("pause", "a"), ("alter", "a"), ("create", "a"), ("add_source", "t"),
        ]  # fmt: skip
        assert {e.text.partition(" by ")[2] for e in db.audit_log()} == {
            f"user {getpass.getuser()}"
        }
        assert [event.subject for event in db.audit_log("V")] == ["v"]
        assert not any(event.kind == "audit" for event in db.events())


def test_every_change_is_a_method():
    for name in CHANGES:
        assert callable(getattr(StreamTables, name))


def test_looking_is_no_change(tmp_path: Path):
    with StreamTables(tmp_path / "warehouse") as db:
        db.status()
        db.events()
        assert db.audit_log() == []
