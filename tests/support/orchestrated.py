"""A small warehouse that orchestrators are tried on."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import connect
from tests.support.delta_tables import DeltaTableFile

ORDERS = {"id": "bigint", "region": "string", "amount": "bigint"}


class SmallShop:
    """One source, and a chain of two stream tables in a namespace."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = str(folder / "warehouse")
        self.orders = DeltaTableFile(folder / "orders", ORDERS, [(1, "north", 5), (2, "south", 7)])
        with connect(self.warehouse) as db:
            db.add_source("orders", path=self.orders.path, key="id")
            db.create(
                "shop.revenue", "SELECT region, sum(amount) AS total FROM orders GROUP BY region"
            )
            db.create("shop.rich", "SELECT region FROM shop.revenue WHERE total > 6")

    def break_it(self) -> None:
        """Define a table whose refresh fails by its own query."""
        with connect(self.warehouse) as db:
            db.create("shop.broken", "SELECT CAST(region AS INT) AS n FROM orders")
