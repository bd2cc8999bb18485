"""The 99 queries as the extension has them, in the SQL of Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sqlglot
from sqlglot import exp

from tests.tpcds.generated_data import QUERIES

NUMBERS = tuple(range(1, 100))
_STORABLE = re.compile(r"\w+")


def query_texts(data: Path) -> dict[int, str]:
    """Return all queries by their number; each output column has a name that Delta can store."""
    texts = json.loads((data / QUERIES).read_text(encoding="utf-8"))
    return {number: _for_spark(texts[str(number)]) for number in NUMBERS}


def query_name(number: int) -> str:
    """Return the name under which a query is a stream table."""
    return f"q{number:02}"


def leaves_open(text: str) -> bool:
    """Whether a limit chooses among rows that may tie."""
    return sqlglot.parse_one(text, read="spark").find(exp.Limit) is not None


def _for_spark(text: str) -> str:
    tree = sqlglot.parse_one(text.strip().removesuffix(";"), read="duckdb")
    assert isinstance(tree, exp.Query)
    for place, item in enumerate(tree.selects, start=1):
        if isinstance(item, exp.Star) or _STORABLE.fullmatch(item.alias_or_name):
            continue
        _rename(tree, item, f"column_{place}")
    return tree.sql(dialect="spark")


def _rename(tree: exp.Query, item: exp.Expr, name: str) -> None:
    """Give an item of the outermost list a name, also where the order names it."""
    if isinstance(item, exp.Alias):
        item.set("alias", exp.to_identifier(name))
        return
    item.replace(exp.alias_(item.copy(), name))
