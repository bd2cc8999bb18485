"""The shop: three Delta tables made by Spark, and what happens in it.

Everything is computed from row numbers, so each run makes the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from streamtables.engine.handles import Session

KEYS = {"order_lines": "line_id", "customers": "customer_id", "products": "product_id"}

# Large odd factors spread the row numbers, so that neighbours differ; some customers buy more.
_ORDER_LINES = """
    SELECT id AS line_id,
           CAST({customers} * (0.7 + 0.3 * share) * share AS BIGINT) AS customer_id,
           id * 104729 % 1299709 % {products} AS product_id,
           CAST(1 + id * 31 % 5 AS INT) AS quantity,
           date_add(DATE '2025-01-01', CAST(id % 365 AS INT)) AS ordered_on,
           CASE WHEN id % 40 = 0 THEN 'open' ELSE 'sent' END AS status
    FROM (SELECT id, id * 7919 % 1000003 / 1000003D AS share FROM range({first}, {last}))
"""
_CUSTOMERS = """
    SELECT id AS customer_id,
           concat('customer ', id) AS name,
           concat('city ', id % 200) AS city,
           element_at(array('north', 'east', 'south', 'west'), CAST(1 + id % 4 AS INT)) AS region
    FROM range({first}, {last})
"""
_PRODUCTS = """
    SELECT id AS product_id,
           concat('product ', id) AS name,
           concat('category ', id % 20) AS category,
           CAST(1 + id % 97 + 0.99 AS DECIMAL(10, 2)) AS price
    FROM range({first}, {last})
"""
_ROWS = {"order_lines": _ORDER_LINES, "customers": _CUSTOMERS, "products": _PRODUCTS}


class Event(NamedTuple):
    """One thing that happens in the shop: in words, and as SQL."""

    words: str
    sql: str


class Happening(NamedTuple):
    """What happens between two refreshes."""

    title: str
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Shop:
    """The three tables in a folder, sized after the number of order lines."""

    folder: Path
    lines: int

    @property
    def sizes(self) -> dict[str, int]:
        """Rows of each table at the start."""
        customers, products = max(50, self.lines // 50), max(20, self.lines // 1_000)
        return {"order_lines": self.lines, "customers": customers, "products": products}

    def path(self, table: str) -> Path:
        """Return the folder of one table."""
        return self.folder / table

    def make(self, spark: Session, table: str) -> None:
        """Make one table, with its change feed on."""
        rows = self._rows(table, 0, self.sizes[table])
        spark.sql(
            f"CREATE TABLE {self._name(table)} USING delta "
            f"TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS {rows}"
        )

    def happenings(self) -> tuple[Happening, ...]:
        """Return three rounds of inserts, updates and deletes."""
        lines, customers, products = self._name_all()
        return (
            Happening(
                "orders come in, parcels go out",
                (
                    self.new_lines(first=0, count=500),
                    Event(
                        "some parcels are sent",
                        f"UPDATE {lines} SET status = 'sent' WHERE line_id % 4000 = 0",
                    ),
                    Event(
                        "some lines are cancelled", f"DELETE FROM {lines} WHERE line_id % 20000 = 7"
                    ),
                ),
            ),
            Happening(
                "people move, a price rises",
                (
                    Event(
                        "twenty customers move",
                        f"UPDATE {customers} SET city = 'city 7', region = 'south' "
                        "WHERE customer_id < 20",
                    ),
                    Event(
                        "one product costs more",
                        f"UPDATE {products} SET price = price + 1 WHERE product_id = 3",
                    ),
                    Event(
                        "a new category opens",
                        f"INSERT INTO {products} "
                        f"VALUES ({self.sizes['products']}, 'product new', 'category new', 9.99)",
                    ),
                ),
            ),
            Happening(
                "all three tables change at once",
                (
                    self.new_lines(first=500, count=1_000, product=self.sizes["products"]),
                    Event(
                        "two customers leave",
                        f"DELETE FROM {customers} WHERE customer_id IN (30, 31)",
                    ),
                    Event(
                        "a category gets a new name",
                        f"UPDATE {products} SET category = 'category two' "
                        "WHERE category = 'category 2' AND product_id < 10",
                    ),
                ),
            ),
        )

    def new_lines(self, *, first: int, count: int, product: int | None = None) -> Event:
        """Return that order lines come in; `first` tells how many came since the start."""
        start = self.lines + first
        rows = self._rows("order_lines", start, start + count)
        chosen = "product_id" if product is None else f"{product} AS product_id"
        return Event(
            f"{count:,} new order lines" + ("" if product is None else " of the new product"),
            f"INSERT INTO {self._name('order_lines')} SELECT line_id, customer_id, {chosen}, "
            f"quantity, ordered_on, status FROM ({rows})",
        )

    def _rows(self, table: str, first: int, last: int) -> str:
        return _ROWS[table].format(first=first, last=last, **self._domains())

    def _domains(self) -> dict[str, int]:
        return {name: self.sizes[name] for name in ("customers", "products")}

    def _name_all(self) -> tuple[str, str, str]:
        return self._name("order_lines"), self._name("customers"), self._name("products")

    def _name(self, table: str) -> str:
        location = str(self.path(table).absolute()).replace("`", "``")
        return f"delta.`{location}`"
