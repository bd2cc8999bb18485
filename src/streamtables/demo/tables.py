"""The five stream tables of the demonstration."""

from __future__ import annotations

from typing import NamedTuple


class Definition(NamedTuple):
    """A stream table: its name, what it shows, and its query."""

    name: str
    shows: str
    query: str


DEFINITIONS = (
    Definition(
        "sales",
        "join of three tables, aggregated",
        """
        SELECT region, category, sum(quantity * price) AS revenue, count(*) AS lines
        FROM order_lines JOIN customers USING (customer_id) JOIN products USING (product_id)
        GROUP BY region, category
        """,
    ),
    Definition(
        "region_sales",
        "aggregate over another stream table",
        "SELECT region, sum(revenue) AS revenue, sum(lines) AS lines FROM sales GROUP BY region",
    ),
    Definition(
        "open_lines",
        "rows of a filter and a join",
        """
        SELECT line_id, name AS customer, city, quantity
        FROM order_lines JOIN customers USING (customer_id)
        WHERE status = 'open'
        """,
    ),
    Definition(
        "city_categories",
        "DISTINCT over a join of three tables",
        """
        SELECT DISTINCT city, category
        FROM order_lines JOIN customers USING (customer_id) JOIN products USING (product_id)
        """,
    ),
    Definition(
        "busy_customers",
        "groups that pass HAVING",
        """
        SELECT customer_id, count(*) AS lines, sum(quantity) AS pieces
        FROM order_lines
        GROUP BY customer_id
        HAVING count(*) > 60
        """,
    ),
)
