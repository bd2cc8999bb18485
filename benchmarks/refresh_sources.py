"""The tables that change under the views, and changes of any size to them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.versions_in_delta import write_tables
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate

_DRAWN = 1_000_000
"""A row is drawn when its hash, by this many, is below the share."""

# What an update does: no row stays as it is, and rows move between groups and filters.
_UPDATES = {
    "lineitem": "l_quantity = 51 - l_quantity, l_extendedprice = l_extendedprice + 1, "
    "l_shipdate = date_add(l_shipdate, 3)",
    "orders": "o_totalprice = o_totalprice + 1, o_orderdate = date_add(o_orderdate, 1)",
}
_KEYS = {"lineitem": "l_orderkey, l_linenumber", "orders": "o_orderkey"}


class Sources:
    """All tables of one scale; orders and lines change, the others stay."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        self._spark = spark
        self._rounds = 0
        with Versions(generate(folder, scale), folder / "versions.duckdb") as versions:
            self.paths = write_tables(versions, folder / "sources")

    def change(self, share: float) -> int:
        """Change a share of orders and lines; 0 changes one line.  Returns the changed rows.

        Four in five rows are updated, the others deleted and put back under their keys by the next
        round, so that the tables keep their size.
        """
        self._rounds += 1
        if share == 0:
            return self._update("lineitem", self._one_line())
        return sum(self._changed(table, share) for table in _UPDATES)

    def _changed(self, table: str, share: float) -> int:
        low = int(share * _DRAWN * 0.8)
        changed = self._update(table, f"{self._draw(table)} < {low}")
        gone = f"{self._draw(table)} BETWEEN {low} AND {int(share * _DRAWN) - 1}"
        return changed + self._replaced(table, gone)

    def _draw(self, table: str) -> str:
        return f"pmod(xxhash64({_KEYS[table]}, {self._rounds}), {_DRAWN})"

    def _one_line(self) -> str:
        at = self._spark.read.format("delta").load(str(self.paths["lineitem"]))
        row = at.orderBy("l_partkey").select("l_orderkey", "l_linenumber").limit(1).collect()[0]
        return f"l_orderkey = {row.l_orderkey} AND l_linenumber = {row.l_linenumber}"

    def _update(self, table: str, where: str) -> int:
        done = self._spark.sql(
            f"UPDATE delta.`{self.paths[table]}` SET {_UPDATES[table]} WHERE {where}"
        )
        return int(done.collect()[0][0])

    def _replaced(self, table: str, where: str) -> int:
        """Delete rows, and insert those that the last round deleted."""
        kept = f"__bench_{table}"
        at = f"delta.`{self.paths[table]}`"
        back = self._spark.catalog.tableExists(f"global_temp.{kept}")
        rows = self._spark.sql(f"SELECT * FROM {at} WHERE {where}").toArrow()
        deleted = int(self._spark.sql(f"DELETE FROM {at} WHERE {where}").collect()[0][0])
        if back:
            self._spark.sql(f"INSERT INTO {at} SELECT * FROM global_temp.{kept}")
        self._spark.createDataFrame(rows).createOrReplaceGlobalTempView(kept)
        return deleted
