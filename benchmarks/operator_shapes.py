"""One small query per construct that is maintained, over the tables of `operator_tables`."""

from __future__ import annotations

_ROWS = {
    "filter": "SELECT id, store, amount * 2 AS twice FROM sales WHERE status = 'paid'",
    "explode": "SELECT id, explode(split(status, '-')) AS word FROM sales",
    "clock": "SELECT id, amount, at FROM sales WHERE at > current_timestamp() - INTERVAL 1 DAY",
}

_JOINS = {
    "inner_join": "SELECT id, amount, category FROM sales JOIN products ON product = product_id",
    "three_way_join": """
        SELECT id, amount, category, country
        FROM sales JOIN products ON product = product_id JOIN suppliers USING (supplier_id)""",
    "left_join": "SELECT id, category FROM sales LEFT JOIN products ON product = product_id",
    "right_join": "SELECT id, product_id FROM sales RIGHT JOIN products ON product = product_id",
    "full_join": "SELECT id, product_id FROM sales FULL JOIN products ON product = product_id",
    "join_of_aggregates": """
        SELECT a.store, a.total, b.returned
        FROM (SELECT store, sum(amount) AS total FROM sales GROUP BY store) AS a
        JOIN (SELECT store, count(*) AS returned FROM sales WHERE status = 'returned'
              GROUP BY store) AS b ON a.store = b.store""",
}

_SUBQUERIES = {
    "exists": """
        SELECT product_id, category FROM products WHERE EXISTS (
            SELECT 1 FROM sales WHERE product = product_id AND status = 'returned')""",
    "not_exists": """
        SELECT id, amount FROM sales WHERE NOT EXISTS (
            SELECT 1 FROM products WHERE product_id = product AND category < 50)""",
    "not_in": """
        SELECT id, amount FROM sales
        WHERE product NOT IN (SELECT product_id FROM products WHERE category < 50)""",
    "scalar": "SELECT id, amount FROM sales WHERE amount > (SELECT avg(price) FROM products)",
    "correlated_scalar": """
        SELECT product_id, (SELECT max(amount) FROM sales WHERE product = product_id) AS largest
        FROM products""",
    "lateral": """
        SELECT product_id, id, amount FROM products CROSS JOIN LATERAL (
            SELECT id, amount FROM sales WHERE product = product_id
            ORDER BY amount DESC, id LIMIT 2)""",
}

_AGGREGATES = {
    "sum_count_avg": """
        SELECT store, sum(amount) AS total, count(*) AS n, avg(amount) AS mean
        FROM sales GROUP BY store""",
    "min_max": """
        SELECT product, min(amount) AS smallest, max(amount) AS largest
        FROM sales GROUP BY product""",
    "count_distinct": "SELECT store, count(DISTINCT product) AS n FROM sales GROUP BY store",
    "collect_set": "SELECT product, collect_set(status) AS seen FROM sales GROUP BY product",
    "median": "SELECT product, median(amount) AS middle FROM sales GROUP BY product",
    "global_sum": "SELECT sum(amount) AS total, count(*) AS n FROM sales",
    "global_max": "SELECT max(amount) AS largest, min(at) AS first FROM sales",
    "having": """
        SELECT product, count(*) AS n FROM sales GROUP BY product HAVING count(*) > 22""",
    "rollup": """
        SELECT store, status, sum(amount) AS total, count(*) AS n
        FROM sales GROUP BY ROLLUP (store, status)""",
    "pivot": """
        SELECT * FROM (SELECT store, status, amount FROM sales)
        PIVOT (sum(amount) FOR status IN ('new' AS fresh, 'paid' AS paid, 'returned' AS back))""",
    "aggregate_of_aggregate": """
        SELECT n, count(*) AS products
        FROM (SELECT product, count(*) AS n FROM sales GROUP BY product) GROUP BY n""",
}

_SETS = {
    "distinct": "SELECT DISTINCT product, status FROM sales",
    "union": "SELECT product FROM sales UNION SELECT product_id FROM products",
    "intersect": "SELECT product FROM sales INTERSECT SELECT product_id FROM products",
    "except_all": """
        SELECT product FROM sales WHERE status = 'returned'
        EXCEPT ALL SELECT product_id FROM products""",
}

_WINDOWS = {
    "row_number": """
        SELECT id, row_number() OVER (PARTITION BY product ORDER BY at, id) AS place
        FROM sales""",
    "running_sum": """
        SELECT id, sum(amount) OVER (PARTITION BY product ORDER BY at, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM sales""",
    "lag": """
        SELECT id, amount - lag(amount) OVER (PARTITION BY product ORDER BY at, id) AS rise
        FROM sales""",
    "rank_of_all": "SELECT product_id, rank() OVER (ORDER BY price DESC) AS place FROM products",
    "top_3_per_key": """
        SELECT id, product, amount FROM sales
        QUALIFY row_number() OVER (PARTITION BY product ORDER BY amount DESC, id) <= 3""",
    "order_by_limit": "SELECT id, amount FROM sales ORDER BY amount DESC, id LIMIT 100",
}

_RECURSION = {
    "recursive": """
        WITH RECURSIVE tree(supplier_id, depth) AS (
            SELECT supplier_id, 0 FROM suppliers WHERE parent_id IS NULL
            UNION ALL
            SELECT s.supplier_id, t.depth + 1
            FROM tree AS t JOIN suppliers AS s ON s.parent_id = t.supplier_id
            WHERE t.depth < 8 AND s.supplier_id < 2000)
        SELECT supplier_id, depth FROM tree""",
}

SHAPES: dict[str, str] = {
    **_ROWS,
    **_JOINS,
    **_SUBQUERIES,
    **_AGGREGATES,
    **_SETS,
    **_WINDOWS,
    **_RECURSION,
}
