"""Every place that turns a query down is reached by a query of the tables beside this file."""

from __future__ import annotations

from tests.unit.compiler.refused_queries import REFUSED, TOO_DEEP
from tests.unit.compiler.rejection_sites import (
    ROOT,
    error_classes,
    raised_in_compiler,
    reached,
    sites,
)
from tests.unit.compiler.tables import KEYS, TABLES
from tests.unit.compiler.wrong_queries import WRONG

OF_A_FUNCTION = "it needs a function of the user: test_views_and_functions.py"
OF_AN_AGGREGATE = "it needs an aggregate of the user: test_own_aggregates.py"
OF_SPARK_ALONE = "only a table that Spark alone can read comes here: test_unread_text.py"

NO_QUERY = {
    "algebra/node.py delta_rule NotIncrementalError": "every operator has a rule",
    "frontend/pivot.py _pivoted unimplemented": "the parser takes one FOR clause",
    "frontend/query.py bind_query unimplemented": "the parser makes no other kind of query",
    "frontend/from_clause.py _table UnknownNameError": "all names are looked up before",
    "frontend/calls.py _wrong SqlTypeError": OF_A_FUNCTION,
    "frontend/expressions.py _check_call not_incremental": OF_A_FUNCTION,
    "frontend/own_aggregates.py check_own_aggregates SqlTypeError": OF_AN_AGGREGATE,
    "frontend/own_aggregates.py check_own_aggregates unimplemented": OF_AN_AGGREGATE,
    "frontend/own_aggregates.py check_own_aggregates unsupported": OF_AN_AGGREGATE,
    "frontend/sql_functions.py _check_parameters UnsupportedSqlError": OF_A_FUNCTION,
    "frontend/sql_functions.py _not_in_a_body UnsupportedSqlError": OF_A_FUNCTION,
    "frontend/sql_functions.py _parsed SqlSyntaxError": OF_A_FUNCTION,
    "frontend/sql_functions.py _parsed UnsupportedSqlError": OF_A_FUNCTION,
    "frontend/unread_text.py _unclear SqlSyntaxError": OF_SPARK_ALONE,
    "plan.py unread_query SqlSyntaxError": OF_SPARK_ALONE,
    "plan.py unread_query UnimplementedSqlError": OF_SPARK_ALONE,
}
"""Places that no query reaches, and why."""

OF_NO_QUERY = {
    "InternalError": "a bug of ours",
    "ConfigError": "a wrong schema, not a wrong query",
    "CycleError": "it needs views or functions that use each other: test_views_and_functions.py",
}


def test_every_place_that_turns_a_query_down_has_a_query():
    queries = [*(row[0] for row in WRONG), *(row.sql for row in REFUSED), TOO_DEEP]
    lines = reached(queries, TABLES, KEYS)
    untried = {
        site.name
        for site in sites()
        if not any(
            (str(ROOT / site.file), line) in lines
            for line in range(site.first_line, site.last_line + 1)
        )
    }
    assert untried == set(NO_QUERY)


def test_every_code_that_the_compiler_gives_has_a_query():
    made = {name for name in raised_in_compiler() if name not in OF_NO_QUERY}
    wanted = {error_classes()[name].code for name in made}
    assert {*(row[1] for row in WRONG), *(row.code for row in REFUSED)} == wanted
