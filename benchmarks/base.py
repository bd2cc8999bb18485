"""The tables that benchmarks read, and one change of them per round.

A change is one commit to `orders`: of its rows, three in five are updated, one in five is deleted
and one in five is new.  The rows of one change lie side by side, as those of one hour do; each
round takes another place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

CITIES = 1_000
PRODUCTS = 500
QUERIES = {
    "filter": "SELECT id, customer_id, amount FROM orders WHERE product_id < 50",
    "join": "SELECT id, city, amount FROM orders JOIN customers USING (customer_id)",
    "aggregate": "SELECT product_id, sum(amount) AS total, count(*) AS n FROM orders "
    "GROUP BY product_id",
    "join-aggregate": "SELECT city, sum(amount) AS total, count(*) AS n FROM orders "
    "JOIN customers USING (customer_id) GROUP BY city",
}
_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("customer_id", pa.int64()),
        ("product_id", pa.int64()),
        ("amount", pa.decimal128(12, 2)),
    ]
)


@dataclass
class Base:
    """`orders` and `customers` in a folder."""

    folder: Path
    rows: int
    _round: int = field(default=0, init=False)

    @property
    def orders(self) -> str:
        """The folder of the large table, which changes."""
        return str(self.folder / "orders")

    @property
    def customers(self) -> str:
        """The folder of the small table."""
        return str(self.folder / "customers")

    def make(self, spark: SparkSession) -> None:
        """Make both tables, with their change feeds on."""
        customers = max(CITIES, self.rows // 100)
        self._write(
            spark,
            self.customers,
            f"SELECT id AS customer_id, concat('city ', id % {CITIES}) AS city "
            f"FROM range(0, {customers}, 1, 2)",
        )
        files = max(4, self.rows // 500_000)
        self._write(
            spark,
            self.orders,
            f"SELECT id, id * 7919 % {customers} AS customer_id, id * 104729 % {PRODUCTS} AS "
            "product_id, CAST(id % 10000 / 100 AS DECIMAL(12, 2)) AS amount "
            f"FROM range(0, {self.rows}, 1, {files})",
        )

    def change(self, count: int) -> None:
        """Change `count` rows of `orders` in one commit, other ones each time."""
        self._round += 1
        first = self._round * 7_368_787 % max(1, self.rows - count)
        updated = max(1, count * 3 // 5)
        deleted = (count - updated) // 2
        new = count - updated - deleted
        after = self.rows + self._round * 1_000_000
        changed = [*range(first, first + updated), *range(after, after + new)]
        predicate = (
            f"(id >= {first} AND id < {first + updated + deleted}) "
            f"OR (id >= {after} AND id < {after + new})"
        )
        write_deltalake(
            DeltaTable(self.orders), self._changed(changed), mode="overwrite", predicate=predicate
        )

    def _changed(self, ids: list[int]) -> pa.Table:
        customers = max(CITIES, self.rows // 100)
        values = {
            "id": ids,
            "customer_id": [(i * 7919 + self._round) % customers for i in ids],
            "product_id": [(i * 104729 + self._round) % PRODUCTS for i in ids],
            "amount": [Decimal(self._round + i % 1000) for i in ids],
        }
        return pa.table(values, schema=_SCHEMA)

    def _write(self, spark: SparkSession, path: str, query: str) -> None:
        spark.sql(
            f"CREATE TABLE delta.`{path}` USING delta "
            f"TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS {query}"
        )
