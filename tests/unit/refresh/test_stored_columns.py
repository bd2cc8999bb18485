"""Tables that an earlier release filled, with other hidden columns."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.refresh.stored_columns import OtherColumns, require_hidden

TABLES = {"seen": {"id": "int", "at": "timestamp"}}
BY_WINDOW = "SELECT window.start AS s, count(*) AS n FROM seen GROUP BY window(at, '1 hour')"
SHOWN = "SELECT window, count(*) AS n FROM seen GROUP BY window(at, '1 hour')"


def facts(sql: str) -> PlanFacts:
    return PlanFacts.of(compile_sql(sql, TABLES))


def test_the_columns_of_this_release_are_taken():
    require_hidden(facts(BY_WINDOW), ["s", "n", "__st_rows"])
    require_hidden(facts(SHOWN), ["window", "n", "__st_key_start_of_window", "__st_rows"])


def test_a_key_or_state_that_is_not_there_is_named():
    with pytest.raises(OtherColumns, match="kept no __st_key_start_of_window, which"):
        require_hidden(facts(SHOWN), ["window", "n", "__st_rows"])
    with pytest.raises(OtherColumns, match="kept no __st_rows, which"):
        require_hidden(facts(BY_WINDOW), ["s", "n"])


def test_a_key_that_no_row_is_found_by_any_more_is_named():
    with pytest.raises(OtherColumns, match="kept __st_key_window, which its rows are no longer"):
        require_hidden(facts(BY_WINDOW), ["s", "n", "__st_key_window", "__st_rows"])
