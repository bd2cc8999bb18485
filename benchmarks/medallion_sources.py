"""The five tables of the shop, and batches of changes to a share of them.

A batch is one commit to each table: of the changed rows three in five are updated, one in five is
deleted and one in five is new.  They lie side by side, in another place each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ShopTable:
    """One source: how many rows it has for each line of an order, and its columns from an id."""

    name: str
    key: str
    share: float
    least: int
    columns: str

    def rows(self, lines: int) -> int:
        """Return how many rows it has where there are so many lines."""
        return max(self.least, int(lines * self.share))


TABLES = (
    ShopTable(
        "customers",
        "customer_id",
        0.02,
        20,
        "concat(' customer ', id, '-', {round}) AS name, "
        "element_at(array('at', 'de', 'fr', 'it', 'pl'), CAST(1 + id % 5 AS INT)) AS country, "
        "concat('segment ', (id + {round}) % 4) AS segment",
    ),
    ShopTable(
        "products",
        "product_id",
        0.002,
        20,
        "concat('Category ', id % 25) AS category, "
        "CAST(5 + (id + {round}) % 95 AS DECIMAL(10, 2)) AS list_price",
    ),
    ShopTable("stores", "store_id", 0.0, 50, "concat('region ', id % 10) AS region"),
    ShopTable(
        "orders",
        "order_id",
        0.25,
        50,
        "id * 7919 % {customers} AS customer_id, id % 50 AS store_id, "
        "date_add(DATE'2026-01-01', CAST((id + {round}) % 365 AS INT)) AS ordered_on, "
        "IF((id + {round}) % 20 = 0, 'cancelled', 'done') AS status",
    ),
    ShopTable(
        "order_lines",
        "line_id",
        1.0,
        200,
        "id * 104729 % {orders} AS order_id, id * 31 % {products} AS product_id, "
        "CAST((id + {round}) % 10 AS INT) AS quantity, "
        "CAST((id % 5000 + {round}) / 100 AS DECIMAL(10, 2)) AS price",
    ),
)


@dataclass
class Shop:
    """All five in a folder."""

    spark: SparkSession
    folder: Path
    lines: int
    rounds: int = 0

    def path(self, table: ShopTable) -> Path:
        """Return where a table is."""
        return self.folder / table.name

    def make(self) -> None:
        """Write all tables, with their change feeds on."""
        for table in TABLES:
            rows = table.rows(self.lines)
            files = max(1, rows // 500_000)
            self.spark.sql(
                f"CREATE TABLE delta.`{self.path(table)}` USING delta "
                "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS "
                f"{self._query(table, f'range(0, {rows}, 1, {files})')}"
            )

    def change(self, share: float) -> int:
        """Change a share of every table; one too small for a whole row stays.  Returns the rows."""
        self.rounds += 1
        return sum(self._change(table, share) for table in TABLES)

    def _change(self, table: ShopTable, share: float) -> int:
        rows = table.rows(self.lines)
        count = int(rows * share)
        if count == 0:
            return 0
        updated, deleted, new = fifths(count)
        first = self.rounds * 7_368_787 % max(1, rows - count)
        after = rows + self.rounds * 1_000_000
        spans = [f"range({first}, {first + updated})", f"range({after}, {after + new})"]
        found = [self.spark.sql(self._query(table, span)).toArrow() for span in spans]
        key = table.key
        predicate = (
            f"({key} >= {first} AND {key} < {first + updated + deleted}) "
            f"OR ({key} >= {after} AND {key} < {after + new})"
        )
        target = DeltaTable(str(self.path(table)))
        write_deltalake(
            target, nullable(pa.concat_tables(found)), mode="overwrite", predicate=predicate
        )
        return count

    def _query(self, table: ShopTable, ids: str) -> str:
        sizes = {item.name: item.rows(self.lines) for item in TABLES}
        columns = table.columns.format(round=self.rounds, **sizes)
        return f"SELECT id AS {table.key}, {columns} FROM {ids}"


def fifths(count: int) -> tuple[int, int, int]:
    """Split changed rows into those updated, deleted and new."""
    updated = max(1, count * 3 // 5)
    deleted = (count - updated) // 2
    return updated, deleted, count - updated - deleted


def nullable(rows: pa.Table) -> pa.Table:
    """Return the same rows as columns that may be NULL, which is how Spark made the table."""
    return pa.table(dict(zip(rows.column_names, rows.columns, strict=True)))
