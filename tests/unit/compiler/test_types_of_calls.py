"""The types of calls: what is certain is known, and all else is left open."""

from __future__ import annotations

import pytest

from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.plan import compile_sql
from streamtables.compiler.types import SqlType, written_type
from tests.unit.compiler.typed_expressions import COLUMNS, OPEN, TYPED


@pytest.mark.parametrize(("expression", "type_"), TYPED.items())
def test_a_type_that_is_certain_is_known(expression: str, type_: str):
    plan = compile_sql(f"SELECT {expression} AS v FROM t", {"t": COLUMNS})
    assert plan.output == (("v", type_),)


@pytest.mark.parametrize("expression", OPEN)
def test_a_type_that_is_not_certain_is_left_open(expression: str):
    (item,) = parse_query(f"SELECT {expression} FROM t").expressions
    types = {name: SqlType(type_) for name, type_ in COLUMNS.items()}
    assert type_of(item, types) == "unknown"


@pytest.mark.parametrize("text", ["", "a", "map<int>", "a INT COMMENT 'x'", "a time"])
def test_what_names_no_plain_type_is_not_read(text: str):
    assert written_type(text) == "unknown"
