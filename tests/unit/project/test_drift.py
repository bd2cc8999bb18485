"""Drift, from what is stored, what was applied and what the files say."""

from __future__ import annotations

from streamtables.project.drift import Stored, source_drift, table_drift

SAID = {"query": "SELECT 1", "schedule": "manual", "mode": "auto"}


def texts(stored, applied, wanted, *, prune: bool = False) -> list[tuple[str, str]]:
    return [(d.name, d.text) for d in table_drift(stored, applied, wanted, prune=prune)]


def test_nothing_changed_is_no_drift():
    assert texts([Stored("T", SAID)], {"t": SAID}, {"t": SAID}) == []


def test_a_change_of_the_files_is_a_change_and_no_drift():
    assert texts([Stored("t", SAID)], {"t": SAID}, {"t": {**SAID, "mode": "full"}}) == []


def test_what_a_person_changed_is_drift_with_what_apply_sets():
    stored = Stored("t", {**SAID, "schedule": "5 minutes", "sla": "1 hour"})
    assert texts([stored], {"t": SAID}, {"t": SAID}) == [
        ("t", "schedule was changed by hand: manual → 5 minutes; apply sets manual"),
        ("t", "sla was changed by hand: none → 1 hour; apply sets none"),
    ]


def test_a_change_by_hand_that_the_files_made_too_is_no_drift():
    new = {**SAID, "schedule": "5 minutes"}
    assert texts([Stored("t", new)], {"t": SAID}, {"t": new}) == []


def test_without_a_record_nobody_is_said_to_have_changed_anything():
    assert texts([Stored("t", {**SAID, "mode": "full"})], {}, {"t": SAID}) == []


def test_states_strays_and_what_was_dropped():
    stored = [Stored("p", SAID, "paused", "by ann"), Stored("old", SAID), Stored("new", SAID)]
    applied = {"p": SAID, "old": SAID, "gone": SAID}
    wanted = {"p": SAID, "gone": SAID}
    assert texts(stored, applied, wanted) == [
        ("p", "is paused (by ann); apply leaves that as it is"),
        ("old", "is no longer in a file; apply --prune drops it"),
        ("new", "is in no file of the project; apply --prune drops it"),
        ("gone", "was dropped by hand; apply makes it anew"),
    ]
    assert [name for name, _ in texts(stored, applied, wanted, prune=True)] == ["p", "gone"]


def test_sources_with_another_place_strays_and_dropped_ones():
    here, there = {"place": "/a", "key": ""}, {"place": "/b", "key": ""}
    found = source_drift(
        {"orders": ("Orders", there), "extra": ("extra", here)},
        {"orders": here, "gone": here},
        {"orders": here, "gone": here},
    )
    assert [(d.name, d.text) for d in found] == [
        ("Orders", "place was changed by hand: /a → /b"),
        ("extra", "is in no file of the project; apply leaves it"),
        ("gone", "was dropped by hand; apply adds it again"),
    ]
