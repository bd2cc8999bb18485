"""Every test that the page of guarantees names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guarantees.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`", PAGE.read_text())))


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 15


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_the_test_is_there(file: str, test: str) -> None:
    text = (ROOT / file).read_text()
    assert f"def {test}(" in text if test else "def test_" in text
