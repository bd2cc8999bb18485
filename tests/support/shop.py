"""A small shop of two tables, a change that touches both, and one query of each shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from streamtables.api import StreamTables
from tests.support.delta_tables import DeltaTableFile

REVENUE = """
    SELECT region, sum(amount) AS total, count(*) AS orders, avg(amount) AS mean
    FROM orders JOIN customers ON customer = customers.id GROUP BY region
"""


@dataclass
class Shop:
    orders: DeltaTableFile
    customers: DeltaTableFile


def open_shop(db: StreamTables, folder: Path) -> Shop:
    orders = DeltaTableFile(
        folder / "orders",
        {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)", "note": "string"},
        [(1, 10, "5.00", "a"), (2, 10, "7.50", "b"), (3, 20, "1.25", None), (4, None, "9.00", "d")],
    )
    customers = DeltaTableFile(
        folder / "customers",
        {"id": "bigint", "region": "string"},
        [(10, "north"), (20, "south"), (30, None)],
    )
    db.add_source("orders", path=orders.path, key=["id"])
    db.add_source("customers", path=customers.path, key=["id"])
    return Shop(orders, customers)


def change(shop: Shop) -> None:
    """Insert, update and delete on both sides of the join in one window."""
    shop.orders.append((5, 30, "2.00", "e"), (6, 20, "3.00", "f"))
    shop.orders.update("id = 1", amount="CAST(6.00 AS DECIMAL(12,2))")
    shop.orders.delete("id = 2")
    shop.customers.update("id = 20", region="'west'")


QUERIES = {
    "filter": "SELECT id, amount * 2 AS twice FROM orders WHERE amount > 2",
    "join": "SELECT orders.id, region FROM orders JOIN customers ON customer = customers.id",
    "bag": "SELECT region FROM orders JOIN customers ON customer = customers.id",
    "state": REVENUE,
    "groups": "SELECT customer, max(amount) AS most, min(note) AS first FROM orders GROUP BY customer",
    "global": "SELECT count(*) AS n, sum(amount) AS total, max(id) AS last FROM orders",
    "having": "SELECT customer, count(*) AS n FROM orders GROUP BY customer HAVING count(*) > 1",
    "distinct": "SELECT DISTINCT region FROM customers",
    "union": "SELECT id FROM orders UNION ALL SELECT id FROM customers",
    "nested": """SELECT region, max(n) AS most FROM (
        SELECT region, customer, count(*) AS n FROM orders
        JOIN customers ON customer = customers.id GROUP BY region, customer) GROUP BY region""",
}
