"""Licences of what is installed with this package."""

from __future__ import annotations

from scripts.licences import PAGE, needed, refused


def test_no_package_has_a_licence_that_cannot_be_stood_on():
    assert refused(needed()) == []


def test_refused_licences_are_found():
    found = {
        "a": "GPL-3.0-only",
        "b": "LGPL-3.0-only",
        "c": "unknown",
        "d": "MIT",
        "e": "GNU Affero GPL v3",
    }
    assert refused(found) == ["a", "c", "e"]


def test_the_page_names_every_package():
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in needed() if f"| {name} |" not in page] == []
