"""`streamtables snapshot`."""

from __future__ import annotations

import json


def test_create_names_the_tables(run, db):
    result = run("snapshot", "create", "before", "totals", "others", "--epoch", "4")
    assert result.code == 0
    assert "totals 7" in result.out
    assert db.asked("snapshot") == [((("totals", "others"),), {"label": "before", "epoch": 4})]
    assert run("snapshot", "create", "before").code == 2


def test_list(run, db):
    assert "before" in run("snapshot", "list").out
    (found,) = json.loads(run("snapshot", "list", "--json").out)
    assert (found["label"], found["epoch"], found["tables"]) == ("before", 4, {"totals": 7})


def test_restore_and_drop(run, db):
    assert "totals" in run("snapshot", "restore", "before").out
    assert run("snapshot", "drop", "before").code == 0
    assert db.asked("restore_snapshot") == db.asked("drop_snapshot") == [(("before",), {})]
