"""Fifteen views of a shop in three layers: cleaned, joined, and summed up.

bronze   each source, cleaned: spelling, cancelled orders, lines without a quantity
silver   lines with their orders and products, orders with who and where, totals
gold     what a report shows: by region and day, by category and month, by customer, the best
"""

from __future__ import annotations

from collections.abc import Mapping

BRONZE: Mapping[str, str] = {
    "bronze_customers": "SELECT customer_id, trim(name) AS name, upper(country) AS country, "
    "segment FROM customers",
    "bronze_products": "SELECT product_id, lower(category) AS category, list_price FROM products",
    "bronze_stores": "SELECT store_id, region FROM stores",
    "bronze_orders": "SELECT order_id, customer_id, store_id, ordered_on FROM orders "
    "WHERE status <> 'cancelled'",
    "bronze_lines": "SELECT line_id, order_id, product_id, quantity, quantity * price AS amount "
    "FROM order_lines WHERE quantity > 0",
}
SILVER: Mapping[str, str] = {
    "silver_sales": "SELECT line_id, order_id, product_id, ordered_on, quantity, amount "
    "FROM bronze_lines JOIN bronze_orders USING (order_id)",
    "silver_priced_sales": "SELECT line_id, category, ordered_on, amount, "
    "quantity * list_price - amount AS discount "
    "FROM silver_sales JOIN bronze_products USING (product_id)",
    "silver_orders": "SELECT order_id, o.customer_id, ordered_on, region, country, segment "
    "FROM bronze_orders o JOIN bronze_stores USING (store_id) "
    "LEFT JOIN bronze_customers c ON o.customer_id = c.customer_id",
    "silver_order_totals": "SELECT order_id, sum(amount) AS total, count(*) AS n "
    "FROM silver_sales GROUP BY order_id",
    "silver_active_customers": "SELECT customer_id, name, country FROM bronze_customers c "
    "WHERE EXISTS (SELECT 1 FROM bronze_orders o WHERE o.customer_id = c.customer_id)",
    "silver_product_months": "SELECT product_id, trunc(ordered_on, 'MONTH') AS month, "
    "sum(quantity) AS quantity, sum(amount) AS amount FROM silver_sales "
    "GROUP BY product_id, trunc(ordered_on, 'MONTH')",
}
GOLD: Mapping[str, str] = {
    "gold_region_days": "SELECT region, ordered_on, sum(total) AS revenue, count(*) AS orders "
    "FROM silver_order_totals JOIN silver_orders USING (order_id) GROUP BY region, ordered_on",
    "gold_category_months": "SELECT category, trunc(ordered_on, 'MONTH') AS month, "
    "sum(amount) AS revenue, sum(discount) AS discount FROM silver_priced_sales "
    "GROUP BY category, trunc(ordered_on, 'MONTH')",
    "gold_customers": "SELECT c.customer_id, name, c.country, sum(total) AS revenue, "
    "max(ordered_on) AS last_order FROM silver_active_customers c "
    "JOIN silver_orders o ON c.customer_id = o.customer_id "
    "JOIN silver_order_totals USING (order_id) GROUP BY c.customer_id, name, c.country",
    "gold_best_products": "SELECT month, category, product_id, amount "
    "FROM silver_product_months JOIN bronze_products USING (product_id) "
    "QUALIFY row_number() OVER (PARTITION BY month, category "
    "ORDER BY amount DESC, product_id) <= 3",
}
VIEWS: Mapping[str, str] = {**BRONZE, **SILVER, **GOLD}
"""Each after what it reads."""
