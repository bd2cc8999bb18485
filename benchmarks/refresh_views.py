"""Twenty views on the tables of TPC-H: ten plain shapes, and ten of its queries."""

from __future__ import annotations

from collections.abc import Mapping

from tests.tpch.queries import query_name, query_text

_PLAIN: Mapping[str, str] = {
    "filter": """
        SELECT l_orderkey, l_linenumber, l_quantity, l_extendedprice
        FROM lineitem WHERE l_quantity > 45""",
    "project": """
        SELECT o_orderkey, upper(o_orderstatus) AS status, o_totalprice * 2 AS doubled, o_orderdate
        FROM orders""",
    "join": """
        SELECT l_orderkey, l_linenumber, l_quantity, o_orderdate, o_custkey
        FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE o_orderpriority = '1-URGENT'""",
    "left_join": """
        SELECT o_orderkey, o_totalprice, c_name, c_nationkey
        FROM orders LEFT JOIN customer ON o_custkey = c_custkey AND c_acctbal > 0""",
    "aggregate": """
        SELECT l_shipmode, l_shipdate, sum(l_quantity) AS quantity, count(*) AS n
        FROM lineitem GROUP BY l_shipmode, l_shipdate""",
    "join_aggregate": """
        SELECT c_mktsegment, o_orderdate, sum(o_totalprice) AS total, count(*) AS n
        FROM orders JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment, o_orderdate""",
    "distinct": "SELECT DISTINCT l_suppkey, l_shipmode FROM lineitem",
    "min_max": """
        SELECT l_suppkey, min(l_shipdate) AS first, max(l_extendedprice) AS dearest
        FROM lineitem GROUP BY l_suppkey""",
    "top_per_customer": """
        SELECT o_custkey, o_orderkey, o_totalprice FROM orders
        QUALIFY row_number() OVER (PARTITION BY o_custkey ORDER BY o_totalprice DESC) <= 3""",
    "not_exists": """
        SELECT c_custkey, c_name FROM customer
        WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)""",
}
_QUERIES = (1, 3, 4, 5, 6, 10, 12, 14, 18, 21)


def views(scale: float) -> dict[str, str]:
    """Return the query of each view by its name."""
    return {**_PLAIN, **{query_name(n): query_text(n, scale) for n in _QUERIES}}
