"""One large table and two of a tenth of its rows, and one change of all three per round.

A change is one commit to each table: of its rows three in five are updated, one in five is deleted
and one in five is new.  They are spread over all keys, and no row changes twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
from deltalake import write_deltalake

from benchmarks.twins import SourceTable
from tests.support.delta_tables import merge_changes
from tests.support.versions_in_delta import FILE_BYTES

KEYS = {"sales": "id", "products": "product_id", "suppliers": "supplier_id"}
DAYS = 30
"""Over how many days before the run the sales are spread."""

# A prime that divides no number of rows in use: its multiples visit every row once.
_STRIDE = 7_368_787


class OperatorTables:
    """`sales`, `products` and `suppliers` in a folder; each value is drawn from key and round."""

    def __init__(self, folder: Path, rows: int) -> None:
        few = min(100_000, max(100, rows // 10))
        self._rows = {"sales": rows, "products": few, "suppliers": few}
        self._folder = folder
        self._round = 0
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._values = _values(rows, few, datetime.now(UTC))

    @property
    def sources(self) -> list[SourceTable]:
        """The tables as stream tables read them."""
        return [SourceTable(name, self._folder / name, [key]) for name, key in KEYS.items()]

    def make(self) -> None:
        """Write the tables, with their change feeds on."""
        for source in self.sources:
            write_deltalake(
                str(source.path),
                self._drawn(
                    source.name, f"SELECT range AS k FROM range({self._rows[source.name]})"
                ),
                configuration={"delta.enableChangeDataFeed": "true"},
                target_file_size=FILE_BYTES,
            )

    def change(self, count: int) -> None:
        """Change `count` rows of the large table, and a tenth as many of the others."""
        self._round += 1
        for source in self.sources:
            size = count if source.name == "sales" else max(5, count // 10)
            merge_changes(source.path, self._changed(source.name, size), source.key)

    def _changed(self, table: str, count: int) -> pa.Table:
        """Return the last image of each changed row, and whether it is gone."""
        rows, new = self._rows[table], count // 5
        # From 1 on: row 0 is the root of the suppliers and stays as it is.
        first = 1 + (self._round - 1) * (count - new)
        added = rows + self._round * 1_000_000
        keys = (
            f"SELECT (range * {_STRIDE}) % {rows} AS k, range < {first + new} AS gone "
            f"FROM range({first}, {first + count - new}) "
            f"UNION ALL SELECT range AS k, FALSE AS gone FROM range({added}, {added + new})"
        )
        return self._drawn(table, keys)

    def _drawn(self, table: str, keys: str) -> pa.Table:
        gone = ", gone" if "gone" in keys else ""
        return self._connection.sql(
            f"SELECT {self._values[table]}{gone} "
            f"FROM (SELECT *, {self._round} AS r FROM ({keys})) ORDER BY k"
        ).to_arrow_table()


def _values(rows: int, few: int, started: datetime) -> dict[str, str]:
    """Return for each table the row of key `k` in round `r`.

    Half of the products are never sold, and some sales are of products that do not exist: outer
    joins have something to pad on either side.
    """
    stores = min(1_000, max(10, rows // 50))
    return {
        "sales": f"""
            k AS id, {_number("store", stores)} AS store,
                {few // 2} + {_number("product", few // 2 + few // 50)} AS product,
                {_money("amount")} AS amount,
                ['new', 'paid', 'paid-late', 'returned'][1 + {_number("status", 4)}] AS status,
                TIMESTAMPTZ '{started:%Y-%m-%d %H:%M:%S+00}'
                    - {_number("at", DAYS * 86_400)} * INTERVAL 1 SECOND AS "at"
            """,
        "products": f"""
            k AS product_id, {_number("supplier", few)} AS supplier_id,
                {_number("category", 500)} AS category, {_money("price")} AS price
            """,
        # A parent has a smaller key, so the suppliers are a tree.
        "suppliers": f"""
            k AS supplier_id, {_number("country", 100)} AS country,
                CASE WHEN k > 0 THEN k // (10 + {_number("parent", 20)}) END AS parent_id
            """,
    }


def _number(what: str, below: int) -> str:
    # Hashed twice: hashes of several values differ by their last one in the same bits.
    return f"(hash(hash(k, r, '{what}')) % {below})::BIGINT"


def _money(what: str) -> str:
    return f"({_number(what, 100_000)} / 100)::DECIMAL(12, 2)"
