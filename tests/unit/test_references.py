"""The references of the Python interface and of the JSON API name all that there is."""

from __future__ import annotations

import re

import pytest

import streamtables
from scripts.generate_docs import ROOT
from streamtables.api import StreamTables
from tests.unit.web.test_schema import OPERATIONS

PYTHON = (ROOT / "docs/python.md").read_text("utf-8")
HTTP = (ROOT / "docs/http.md").read_text("utf-8")


@pytest.mark.parametrize("name", streamtables.__all__)
def test_every_name_of_the_package_has_a_section(name: str):
    assert re.search(rf"^#+ (streamtables\.)?{name}$", PYTHON, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in dir(StreamTables) if not name.startswith("_")])
def test_every_method_of_a_warehouse_is_told_with_its_signature(name: str):
    section = re.search(rf"^#### db\.{name}$\n(.*?)^#", PYTHON, re.MULTILINE | re.DOTALL)
    assert section is not None
    assert f"```text\ndb.{name}" in section[1]
    assert "self" not in section[1].split("```")[1]
    assert len(section[1].split("```")[2].strip()) > 10


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_of_the_api_has_a_section(path: str, method: str):
    assert f"\n### {method.upper()} `{path}`\n" in HTTP


@pytest.mark.parametrize("page", [PYTHON, HTTP], ids=["python", "http"])
def test_every_type_that_is_linked_has_a_section(page: str):
    titles = {title.lower() for title in re.findall(r"^### (\w+)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= titles


def test_what_changes_something_needs_the_token():
    told = re.findall(r"^### (GET|POST) [^\n]+\n(.*?)(?=^##)", HTTP, re.MULTILINE | re.DOTALL)
    assert {"Needs the token." in text for method, text in told if method == "POST"} == {True}
    assert {"Needs the token." in text for method, text in told if method == "GET"} == {False}
