"""The 22 queries with the validation parameters of the specification, from `sql/`."""

from __future__ import annotations

from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "sql"
NUMBERS = tuple(range(1, 23))


def query_text(number: int, scale: float) -> str:
    """Return a query; one of them filters by a fraction that shrinks as the tables grow."""
    text = (FOLDER / f"q{number:02}.sql").read_text(encoding="utf-8")
    return Template(text).substitute(fraction=f"{0.0001 / scale:.10f}")


def query_name(number: int) -> str:
    """Return the name under which a query is a stream table."""
    return f"q{number:02}"
