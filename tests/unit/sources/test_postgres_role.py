"""The role that captures: one file, which the documentation repeats word for word."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "postgresql.md"


def test_the_page_has_the_statements_of_the_package():
    text = files("streamtables.sources.postgres").joinpath("role.sql").read_text("utf-8")
    assert f"```sql\n{text}```\n" in DOCS.read_text(encoding="utf-8")


def test_no_right_is_given_that_reaches_beyond_the_database():
    text = files("streamtables.sources.postgres").joinpath("role.sql").read_text("utf-8")
    assert "SUPERUSER" not in text
    assert "CREATEROLE" not in text
