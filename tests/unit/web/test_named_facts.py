"""Every number on a page has a name, so that tests can compare it with what the API says."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tests.unit.web.test_pages import ADDRESSES

# Moments, code, drawings, and links, which are names; fields hold what a reader wrote.
TELLING_TAGS = {"time", "pre", "code", "svg", "a", "textarea"}
# The axis of a chart, and sentences of records and events, which the API gives as they are.
TELLING_CLASSES = {"axis", "top-value", "text", "wrong", "recomputed", "refusal", "said", "data"}
VOID = {"br", "hr", "img", "input", "link", "meta"}


class Unnamed(HTMLParser):
    """Collects texts with digits that stand in nothing that says what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[bool] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        known = tag in TELLING_TAGS or bool(classes & TELLING_CLASSES) or "data-fact" in given
        self.inside.append(known or bool(self.inside and self.inside[-1]))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not (self.inside and self.inside[-1]) and re.search(r"\d", data):
            self.found.append(" ".join(data.split()))


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_number_of_a_page_has_a_name(client: TestClient, address: str):
    page = client.get(address, headers={"Accept": "text/html"}).text
    found = Unnamed()
    found.feed(f"<main{page.partition('<main')[2].partition('</main>')[0]}</main>")
    assert found.found == []
