"""Queries that are refused, with all that is said about each.

A refusal is a value (ST-1201 by nature, ST-1203 for want of a rule); what a stream table cannot be
defined by at all (ST-1202) is an error.
"""

from __future__ import annotations

from typing import NamedTuple


class Refused(NamedTuple):
    """A query, its code, message, detail and hint, and the text above the caret."""

    sql: str
    code: str
    message: str
    detail: str
    hint: str
    under: str


def _by_nature(sql: str, detail: str, under: str) -> Refused:
    message = "the query cannot be maintained incrementally"
    hint = "Use mode 'full', or take this part out of the query."
    return Refused(sql, "ST-1201", message, detail, hint, under)


def _unsupported(sql: str, what: str, under: str) -> Refused:
    message = f"{what} cannot be part of a stream table's query"
    return Refused(sql, "ST-1202", message, "", "Take this part out of the query.", under)


def _without_rule(sql: str, what: str, under: str) -> Refused:
    message = f"{what} is not maintained incrementally by this version"
    detail = f"This version has no delta rule for {what}."
    hint = "Use mode 'auto' or 'full': the table is then kept by full refreshes."
    return Refused(sql, "ST-1203", message, detail, hint, under)


def _touching(sql: str) -> Refused:
    message = "a group of session windows that may touch is not maintained incrementally by"
    detail = "Spark merges sessions that touch wherever it groups by a column of them."
    hint = "Group by session_window(…) itself, or by the start and end of the column."
    under = "session_window(at, '1 hour'"
    return Refused(sql, "ST-1203", f"{message} this version", detail, hint, under)


BY_NATURE = [
    _by_nature(
        "SELECT rand() AS r FROM orders", '"rand" may give another answer each time.', "rand"
    ),
    _by_nature(
        "SELECT current_user AS u FROM orders",
        '"current_user" depends on who runs the query.',
        "current_user",
    ),
    _by_nature(
        "SELECT current_database() AS d FROM orders",
        '"current_database" depends on who runs the query.',
        "current_database",
    ),
    _by_nature(
        "SELECT id FROM orders TABLESAMPLE (10 PERCENT)",
        "TABLESAMPLE picks other rows each time.",
        "orders TABLESAMPLE (10",
    ),
    _by_nature("SELECT id FROM orders LIMIT 3", "LIMIT without ORDER BY may pick any rows.", "3"),
    _by_nature(
        "SELECT approx_percentile(id, 0.5) AS p FROM orders",
        'The answer of "approx_percentile" depends on the order in which rows are read.',
        "approx_percentile(id, 0.5",
    ),
    _by_nature(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT i FROM n",
        "Spark's WITH RECURSIVE is a base and a step with UNION ALL between them.",
        "1 UNION SELECT i + 1 FROM n",
    ),
    _by_nature("SELECT v FROM odd", "A VARIANT has no equality to find a stored row by.", "v"),
    _by_nature(
        "SELECT TIMESTAMP 'now' AS u FROM orders",
        "'now' is another moment each time it is read.",
        "'now'",
    ),
]

WITHOUT_RULE = [
    _without_rule(
        "SELECT approx_top_k(id) AS k FROM orders", 'aggregate "approx_top_k"', "approx_top_k(id"
    ),
    _without_rule(
        "SELECT collect_list(note) OVER (ORDER BY customer RANGE 1 PRECEDING) AS l FROM orders",
        '"collect_list" over rows that share an order',
        "collect_list(note) OVER (ORDER BY customer RANGE 1",
    ),
    _without_rule(
        "SELECT count(*) AS n FROM orders GROUP BY (id, note)",
        "GROUP BY a row of values",
        "id, note",
    ),
    _without_rule("SELECT id FROM numbers(10)", "this table function", "numbers(10"),
    _without_rule(
        "SELECT id FROM range(2.5)", "a range of anything but whole numbers", "range(2.5"
    ),
    _without_rule(
        "SELECT o.id FROM orders AS o LEFT JOIN LATERAL range(2) AS r ON true",
        "LATERAL range in a join of this kind",
        "range(2) AS r",
    ),
    _without_rule(
        "SELECT id FROM range(1000001)", "a range of more than 1000000 numbers", "range(1000001"
    ),
    _without_rule("SELECT note.* FROM orders", "a star over a value of type string", "note.*"),
    _without_rule(
        "SELECT TRANSFORM (id) USING 'cat' AS (x) FROM orders",
        "TRANSFORM … USING",
        "id) USING 'cat' AS (x",
    ),
    _without_rule("SELECT IDENTIFIER('id') AS x FROM orders", "IDENTIFIER", "IDENTIFIER('id'"),
    _without_rule(
        "SELECT day FROM events GROUP BY ROLLUP (day, session_window(at, '1 hour'))",
        "a session window beside sets of groups",
        "session_window(at, '1 hour'",
    ),
    _without_rule(
        "SELECT count(*) AS n FROM events GROUP BY session_window(at, '1 hour').start",
        "a group by a part of a session window",
        "session_window(at, '1 hour'",
    ),
    _touching("SELECT DISTINCT session_window(at, '1 hour') AS w FROM events"),
    _touching(
        "SELECT w, sum(n) AS n FROM (SELECT session_window(at, '1 hour') AS w, day, count(*) AS n"
        " FROM events GROUP BY ALL) GROUP BY w"
    ),
    _without_rule(
        "SELECT day FROM events WHERE window(at, '1 hour').start > '2024-01-01'",
        "a time window outside the select list and GROUP BY",
        "window(at, '1 hour'",
    ),
    _without_rule(
        "SELECT window(note, '1 hour') AS w FROM orders",
        "a time window over a value of type string",
        "note",
    ),
    _without_rule(
        "SELECT window(at, '1 month') AS w FROM events",
        "a duration other than whole weeks, days … microseconds",
        "'1 month'",
    ),
    _without_rule(
        "SELECT window(at, '1 hour') AS w FROM (SELECT at, 1 AS window FROM events)",
        'a time window beside a column "window"',
        "window(at, '1 hour'",
    ),
    _without_rule(
        "SELECT window_time(at) AS w FROM events",
        '"window_time" of anything but a column of windows',
        "window_time(at",
    ),
    _without_rule("SELECT id + explode(array(1)) AS x FROM orders", '"explode"', "explode(array(1"),
    _without_rule(
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.id NOT IN (SELECT id FROM orders)",
        "NOT IN a subquery in ON of this join",
        "o.id NOT IN (SELECT id FROM orders",
    ),
    _without_rule(
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.id + c.id IN (SELECT id FROM orders)",
        "ON with a subquery about both sides",
        "o.id + c.id IN (SELECT id FROM orders",
    ),
    _without_rule(
        "SELECT o.id FROM orders o LEFT JOIN customers c "
        "ON c.id = (SELECT max(id) FROM orders z WHERE z.note = o.note)",
        "ON with a value that a subquery finds per row",
        "c.id = (SELECT max(id) FROM orders z WHERE z.note = o.note",
    ),
    _without_rule(
        "SELECT x FROM events LATERAL VIEW explode(array((SELECT 1))) t AS x",
        "a subquery in an expression",
        "1",
    ),
    _without_rule(
        "SELECT id FROM orders WHERE unix_timestamp() IN (SELECT id FROM customers)",
        "the current time in this place",
        "unix_timestamp",
    ),
    _without_rule(
        "SELECT DISTINCT c FROM odd", "a group, DISTINCT, MIN, MAX or MODE of collated text", "c"
    ),
    Refused(
        "SELECT collect_list(v) AS l FROM odd",
        "ST-1203",
        '"collect_list" of values of type variant is not maintained incrementally by this version',
        "A list is kept in order, and Spark cannot order values of type variant.",
        "Collect to_json(…) of the value, or let full refreshes keep the table.",
        "v",
    ),
    _without_rule("SELECT DISTINCT m FROM odd", "a group or DISTINCT of a map", "m"),
    Refused(
        "SELECT m FROM odd WHERE pad = 'x'",
        "ST-1203",
        'the CHAR column "pad" of "odd" is not maintained incrementally by this version',
        'Spark compares "pad" of "odd" with blanks, which changes do not have.',
        "Declare it as STRING or VARCHAR, or let full refreshes keep the table.",
        "pad",
    ),
    _without_rule("SELECT DISTINCT v FROM odd", "a group or DISTINCT of a variant", "v"),
    _without_rule(
        "SELECT x FROM orders o RIGHT JOIN LATERAL (SELECT o.id AS x) l ON true",
        "RIGHT JOIN LATERAL",
        "o.id AS x) l",
    ),
    _without_rule("SELECT id FROM orders FOR UPDATE", "FOR UPDATE", "FOR UPDATE"),
    _without_rule(
        "SELECT (SELECT max(x) FROM (WITH RECURSIVE n(x) AS (SELECT o.id UNION ALL "
        "SELECT x + 1 FROM n WHERE x < 3) SELECT x FROM n)) AS m FROM orders o",
        "a column of an enclosing query inside Recursive",
        "RECURSIVE",
    ),
    _without_rule("SELECT id FROM orders CONNECT BY id = 1", "CONNECT", "id = 1"),
    Refused(
        "SELECT DISTINCT v FROM (SELECT corr(DISTINCT score, id) AS v FROM customers GROUP BY vip)",
        "ST-1203",
        '"corr" of floating-point numbers below another operator',
        "Computed again, such a sum may differ in its last digits from the stored one.",
        "Cast the argument to DECIMAL, or use mode 'full'.",
        "score",
    ),
    _without_rule(
        "SELECT o.id, x.w FROM orders AS o LEFT JOIN LATERAL (SELECT o.id + 1 AS w) AS x",
        "LEFT JOIN LATERAL without ON of what reads no table",
        "o.id + 1 AS w) AS x",
    ),
    _without_rule(
        "SELECT o.day FROM events AS o LEFT JOIN LATERAL explode(o.tags) AS x(w) ON w = 'a'",
        "LEFT JOIN of a table function",
        "explode(o.tags) AS x(w) ON w = 'a'",
    ),
    _without_rule(
        "SELECT max_by(note, id, 3) AS p FROM orders",
        '"max_by" with a number of rows',
        "max_by(note, id, 3",
    ),
    _without_rule(
        "SELECT id, mode(note) OVER (PARTITION BY customer) AS p FROM orders",
        '"mode" as a window function',
        "mode(note) OVER (PARTITION BY customer",
    ),
    _without_rule("SELECT * EXCEPT (p.x) FROM odd", "EXCEPT of a field of a struct", "p.x"),
    _without_rule(
        "SELECT inline(arrays_zip(tags, tags)) FROM events",
        '"inline" of a value whose type is not known',
        "inline(arrays_zip(tags, tags",
    ),
    _without_rule("SELECT current_time() AS u FROM orders", "the type TIME", "current_time"),
    _without_rule("SELECT CAST('10:00' AS TIME) AS u FROM orders", "the type TIME", "'10:00'"),
]

UNSUPPORTED = [
    Refused(
        "DELETE FROM orders",
        "ST-1202",
        "a stream table is defined by a query, not by DELETE",
        "",
        "Start with SELECT or WITH.",
        "DELETE",
    ),
    _unsupported("SELECT id FROM orders WHERE note = :p", "a parameter", ":p"),
    _unsupported(
        "SELECT id FROM orders VERSION AS OF 3",
        "a fixed version of a table",
        "orders VERSION AS OF 3",
    ),
    _unsupported("SELECT count(*) AS n FROM orders GROUP BY ()", "GROUP BY of nothing", "GROUP BY"),
    _unsupported("SELECT (note).* FROM orders", "a star behind an expression", "note).*"),
    _unsupported("SELECT [id] AS e FROM orders", "an array in brackets", "id"),
    _unsupported("SELECT DISTINCT ON (id) id FROM orders", "DISTINCT ON", "id"),
    _unsupported("SELECT 1 AS n FROM orders GROUP BY note WITH TOTALS", "WITH TOTALS", "note"),
    _unsupported(
        "SELECT * REPLACE (1 AS id) FROM orders",
        "REPLACE or RENAME after a star",
        "* REPLACE (1 AS id",
    ),
    _unsupported(
        "SELECT id FROM orders UNION ALL BY NAME SELECT id FROM customers",
        "UNION BY NAME",
        "id FROM orders UNION ALL BY NAME SELECT id FROM customers",
    ),
    _unsupported(
        "SELECT o.id FROM orders o ASOF JOIN customers c ON o.id = c.id",
        "a ASOF join",
        "customers c ON o.id = c.id",
    ),
]

TOO_DEEP = f"SELECT {'(' * 400}id{')' * 400} AS x FROM orders"

REFUSED = [*BY_NATURE, *WITHOUT_RULE, *UNSUPPORTED]
