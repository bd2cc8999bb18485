"""The constructs of Spark SQL: for each, queries that are kept and queries that are refused.

They read the tables of `tests/support/histories.py`.  The page of supported SQL says of each what the
compiler says; the test of that page follows every kept one through random histories.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """A construct, the queries that show how it is kept, and those that show its limits."""

    name: str
    kept: tuple[str, ...]
    refused: tuple[str, ...] = ()


JOINS = (
    Construct(
        "inner and cross join",
        (
            "SELECT r.s, t.c FROM r JOIN t ON r.a = t.a",
            "SELECT r.s, u.b FROM r JOIN u ON r.a < u.a",
            "SELECT r.s, u.b FROM r CROSS JOIN u",
            "SELECT a, t.c FROM r JOIN t USING (a)",
        ),
        ("SELECT r.id FROM r JOIN u ON r.a = u.a AND rand() > 0.5",),
    ),
    Construct(
        "LEFT, RIGHT and FULL join",
        (
            "SELECT r.s, t.c FROM r LEFT JOIN t ON r.a = t.a",
            "SELECT r.s, t.c FROM r RIGHT JOIN t ON r.a = t.a",
            "SELECT r.s, t.c FROM r FULL JOIN t ON r.a = t.a",
            "SELECT a, t.c FROM r NATURAL LEFT JOIN t",
            "SELECT r.s, t.c FROM r LEFT JOIN t ON r.a < t.a",
            "SELECT r.s, t.c FROM r LEFT JOIN t ON r.a = t.a OR r.s = t.s",
            "SELECT r.s, t.c, v.d FROM r LEFT JOIN t ON r.a = t.a LEFT JOIN v ON r.b = v.a",
            "SELECT r.s, t.c, v.d FROM r LEFT JOIN t ON r.a = t.a LEFT JOIN v ON t.id = v.a",
            "SELECT t.c, median(r.b) AS m FROM r LEFT JOIN t ON r.a = t.a GROUP BY t.c",
            "SELECT r.id FROM r LEFT JOIN t ON r.a = t.a AND r.b IN (SELECT b FROM u)",
            "SELECT ev.id FROM ev LEFT JOIN v ON ev.a = v.a AND v.d < current_date()",
        ),
        ("SELECT r.id FROM r LEFT JOIN t ON r.a = t.a AND r.b NOT IN (SELECT b FROM u)",),
    ),
    Construct(
        "LEFT SEMI and LEFT ANTI join",
        (
            "SELECT r.id, r.s FROM r LEFT SEMI JOIN u ON r.a = u.a",
            "SELECT r.id, r.s FROM r LEFT ANTI JOIN u ON r.a = u.a",
            "SELECT r.id, r.s FROM r LEFT ANTI JOIN u ON r.a < u.a",
        ),
        ("SELECT r.id FROM r LEFT SEMI JOIN LATERAL explode(array(r.a)) AS x(w)",),
    ),
    Construct(
        "LATERAL",
        (
            "SELECT r.id, x.n FROM r, LATERAL (SELECT u.b AS n FROM u WHERE u.a = r.a) AS x",
            "SELECT r.id, x.n FROM r LEFT JOIN LATERAL (SELECT count(*) AS n FROM u WHERE u.a = r.a) AS x",
            "SELECT r.id, x.b FROM r JOIN LATERAL (SELECT b FROM u WHERE u.a = r.a ORDER BY b LIMIT 1) AS x",
            "SELECT r.id, x.n FROM r, LATERAL (SELECT count(*) AS n FROM u WHERE u.a < r.a) AS x",
        ),
        (
            "SELECT x.n FROM r RIGHT JOIN LATERAL (SELECT r.id AS n) AS x ON true",
            "SELECT r.id, x.n FROM r LEFT JOIN LATERAL (SELECT r.id + 1 AS n) AS x",
        ),
    ),
)

SUBQUERIES = (
    Construct(
        "EXISTS and NOT EXISTS",
        (
            "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a)",
            "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = r.a)",
            "SELECT id, EXISTS (SELECT 1 FROM u WHERE u.a = r.a) AS e FROM r",
            "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM u WHERE u.a > r.a)",
        ),
    ),
    Construct(
        "IN and NOT IN",
        (
            "SELECT id FROM r WHERE a IN (SELECT a FROM u)",
            "SELECT id FROM r WHERE a IN (SELECT a FROM u) OR s = 'x'",
            "SELECT id FROM r WHERE a NOT IN (SELECT a FROM u)",
            "SELECT id FROM r WHERE (a, b) IN (SELECT a, b FROM u)",
        ),
    ),
    Construct(
        "ANY, SOME and ALL",
        (
            "SELECT id FROM r WHERE a = ANY (SELECT a FROM u)",
            "SELECT id FROM r WHERE a > ANY (SELECT a FROM u WHERE u.b = r.b)",
            "SELECT id FROM r WHERE a >= ALL (SELECT a FROM u)",
        ),
    ),
    Construct(
        "scalar subquery",
        (
            "SELECT id, (SELECT max(b) FROM u WHERE u.a = r.a) AS m FROM r",
            "SELECT id, (SELECT count(*) FROM u WHERE u.a < r.a) AS n FROM r",
            "SELECT id FROM r WHERE a > (SELECT avg(a) FROM u)",
        ),
    ),
)

GROUPS = (
    Construct(
        "GROUP BY",
        (
            "SELECT a, count(*) AS n, sum(c) AS s, avg(c) AS m FROM t GROUP BY a",
            "SELECT a, min(c) AS low, max(s) AS high FROM t GROUP BY ALL",
            "SELECT a, count(DISTINCT s) AS n FROM t GROUP BY a",
            "SELECT a, sum(c) AS s FROM t GROUP BY a HAVING count(*) > 1",
            "SELECT a, sum(x) AS s FROM v GROUP BY a",
            "SELECT a, collect_set(s) AS l FROM t GROUP BY a",
            "SELECT n, count(*) AS g FROM (SELECT a, count(*) AS n FROM t GROUP BY a) GROUP BY n",
            "SELECT DISTINCT p FROM (SELECT a, var_pop(x) AS p FROM v GROUP BY a)",
        ),
        (
            "SELECT a, approx_percentile(c, 0.5) AS p FROM t GROUP BY a",
            "SELECT a, approx_top_k(s) AS p FROM t GROUP BY a",
            "SELECT s COLLATE UTF8_LCASE AS k, count(*) AS n FROM t GROUP BY 1",
            "SELECT DISTINCT p FROM (SELECT a, corr(DISTINCT x, a) AS p FROM v GROUP BY a)",
        ),
    ),
    Construct(
        "aggregates of all rows",
        (
            "SELECT count(*) AS n, sum(c) AS s FROM t",
            "SELECT min(c) AS low FROM t",
            "SELECT median(a) AS m FROM t",
            "SELECT id, n FROM r CROSS JOIN (SELECT count(*) AS n FROM u)",
        ),
    ),
    Construct(
        "ROLLUP, CUBE and GROUPING SETS",
        (
            "SELECT a, b, count(*) AS n FROM u GROUP BY ROLLUP (a, b)",
            "SELECT a, b, grouping_id() AS g, count(*) AS n FROM u GROUP BY CUBE (a, b)",
            "SELECT count(*) AS n FROM u GROUP BY GROUPING SETS (())",
        ),
    ),
    Construct(
        "DISTINCT",
        ("SELECT DISTINCT a, s FROM r",),
        ("SELECT DISTINCT s COLLATE UTF8_LCASE AS k FROM r",),
    ),
    Construct(
        "PIVOT and UNPIVOT",
        (
            "SELECT * FROM (SELECT a, b, n FROM pair) PIVOT (sum(n) FOR b IN (1, 2))",
            "SELECT * FROM u UNPIVOT (v FOR k IN (a, b))",
            "SELECT * FROM u UNPIVOT INCLUDE NULLS (v FOR k IN (a, b))",
        ),
    ),
)

SETS = (
    Construct(
        "UNION ALL and UNION",
        ("SELECT a FROM r UNION ALL SELECT a FROM t", "SELECT a FROM r UNION SELECT a FROM t"),
    ),
    Construct(
        "INTERSECT and EXCEPT",
        (
            "SELECT a FROM r INTERSECT SELECT a FROM t",
            "SELECT a FROM r EXCEPT SELECT a FROM t",
            "SELECT a FROM r INTERSECT ALL SELECT a FROM t",
            "SELECT a FROM r EXCEPT ALL SELECT a FROM t",
        ),
    ),
)

ORDERS = (
    Construct(
        "window functions",
        (
            "SELECT id, row_number() OVER (PARTITION BY a ORDER BY id) AS n FROM r",
            "SELECT id, sum(b) OVER (PARTITION BY a ORDER BY id ROWS 1 PRECEDING) AS n FROM r",
            "SELECT id, s FROM r QUALIFY row_number() OVER (PARTITION BY a ORDER BY id) <= 2",
            "SELECT a, sum(x) OVER (PARTITION BY a ORDER BY d) AS n FROM v",
            "SELECT a, collect_list(b) OVER (PARTITION BY a ORDER BY b) AS n FROM u",
            "SELECT id, rank() OVER (ORDER BY a) AS n FROM r",
        ),
        (
            "SELECT a, sum(x) OVER (PARTITION BY a ORDER BY d RANGE 1 PRECEDING) AS n FROM v",
            "SELECT id, mode(s) OVER (PARTITION BY a) AS n FROM r",
        ),
    ),
    Construct(
        "ORDER BY … LIMIT",
        (
            "SELECT id, a FROM r ORDER BY a DESC LIMIT 3",
            "SELECT id, a FROM r ORDER BY a LIMIT 2 OFFSET 1",
            "SELECT u.b, x.id FROM u JOIN (SELECT id, a FROM r ORDER BY a LIMIT 2) AS x ON u.a = x.a",
        ),
        ("SELECT id FROM r LIMIT 3",),
    ),
)

RELATIONS = (
    Construct(
        "explode, posexplode and other generators",
        (
            "SELECT id, explode(split(s, 'x')) AS w FROM r",
            "SELECT id, p, w FROM r LATERAL VIEW posexplode(array(a, b)) y AS p, w",
            "SELECT id, w FROM r LATERAL VIEW OUTER explode(split(s, 'x')) y AS w",
            "SELECT r.id, x.w FROM r, LATERAL explode(array(a, b)) AS x(w)",
            "SELECT r.id, x.w FROM r LEFT JOIN LATERAL explode(array(a)) AS x(w) ON TRUE",
            "SELECT r.id, n.id AS k FROM r JOIN range(10) AS n ON r.a = n.id",
        ),
        (
            "SELECT r.id, x.w FROM r LEFT JOIN LATERAL explode(array(a)) AS x(w) ON x.w > 1",
            "SELECT id + explode(array(a)) AS w FROM r",
        ),
    ),
    Construct(
        "VALUES, and SELECT without FROM",
        (
            "SELECT r.id, x.w FROM r JOIN (VALUES (1, 'one'), (2, 'two')) AS x(k, w) ON r.a = x.k",
            "SELECT id FROM r UNION ALL SELECT 0",
        ),
    ),
    Construct(
        "WITH",
        (
            "WITH w AS (SELECT a, s FROM r) SELECT x.s, y.s AS z FROM w AS x JOIN w AS y ON x.a = y.a",
        ),
    ),
    Construct(
        "WITH RECURSIVE",
        (
            "WITH RECURSIVE w(k, n) AS (SELECT a, 1 FROM u UNION ALL SELECT r.b, n + 1 FROM w"
            " JOIN r ON r.a = w.k WHERE n < 3) SELECT k, n FROM w",
            "WITH RECURSIVE w(k) AS (SELECT a FROM u UNION ALL SELECT k + 1 FROM w WHERE k < 3) SELECT k FROM w",
        ),
        (
            "WITH RECURSIVE w(k) AS (SELECT a FROM u UNION SELECT r.b FROM w JOIN r ON r.a = w.k) SELECT k FROM w",
        ),
    ),
    Construct(
        "the current time",
        (
            "SELECT id, ts FROM ev WHERE ts > current_timestamp() - INTERVAL 1 DAY",
            "SELECT a, count(*) AS n FROM ev WHERE d >= current_date() GROUP BY a",
            "SELECT id, datediff(current_date(), d) AS age FROM ev",
            "SELECT v.a FROM v LEFT JOIN ev ON v.a = ev.a AND ev.d < current_date()",
            "SELECT datediff(current_date(), d) AS age, count(*) AS n FROM ev GROUP BY datediff(current_date(), d)",
            "SELECT id, x FROM ev LATERAL VIEW explode(array(d, current_date())) AS x",
        ),
        (
            "SELECT id, current_time() AS u FROM ev",
            "SELECT id FROM ev WHERE ts > TIMESTAMP 'now'",
        ),
    ),
    Construct(
        "windows of time",
        (
            "SELECT window.start AS w, count(*) AS n FROM ev GROUP BY window(ts, '1 hour')",
            "SELECT window.start AS w, a, sum(id) AS n FROM ev GROUP BY window(ts, '1 hour', '20 minutes'), a",
            "SELECT session_window(ts, '5 minutes') AS w, a, count(*) AS n FROM ev GROUP BY ALL",
            "SELECT a, session_window.start AS s, count(*) AS n FROM ev GROUP BY a, session_window(ts, '5 minutes')",
        ),
        (
            "SELECT count(*) AS n FROM ev GROUP BY ROLLUP (a, session_window(ts, '5 minutes'))",
            "SELECT DISTINCT session_window(ts, '5 minutes') AS w FROM ev",
            "SELECT window.start AS w, count(*) AS n FROM ev GROUP BY window(ts, '1 month')",
        ),
    ),
    Construct(
        "functions of one row",
        (
            "SELECT id, CASE WHEN a > 1 THEN upper(s) ELSE 'y' END AS w FROM r",
            "SELECT id, transform(array(a, b), e -> e + 1) AS w FROM r",
            "SELECT id, named_struct('p', a, 'q', s).p AS w FROM r",
        ),
        (
            "SELECT id, rand() AS w FROM r",
            "SELECT id, uuid() AS w FROM r",
            "SELECT id, current_user() AS w FROM r",
            "SELECT id FROM r TABLESAMPLE (10 PERCENT)",
        ),
    ),
)

CONSTRUCTS = (*JOINS, *SUBQUERIES, *GROUPS, *SETS, *ORDERS, *RELATIONS)
