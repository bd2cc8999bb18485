"""One round of changes to all eight tables, as SQL for DuckDB.

    RF1      new orders and their lines, in the gaps that TPC-H leaves between order keys
    RF2      deleted orders and their lines: half of them were new in an earlier round
    updates  rows of every other table exchange values: each takes some of the row that follows it
             in a drawn order, and others of the row before it

Half of the rows are chosen among those that queries filter on, as a few random rows of many would
leave most results as they are.

Every choice is drawn by MD5 from the seed, the round and the row's key: the same in every run and
in every release of DuckDB.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.tpch.exchanges import PARTS_IN_FILTERS, Exchange, exchanges
from tests.tpch.schema import TABLES, column_list, key_list

SEED = 10
"""With this one, each round at scale factor 0.01 changes the result of each query."""
FEWEST_ROWS = 8
KEYS_PER_BLOCK = 32
USED_KEYS_PER_BLOCK = 8
GAPS = KEYS_PER_BLOCK // USED_KEYS_PER_BLOCK - 1
LINES_OF_A_BULK_ORDER = 7

_ORDER_DATES_IN_FILTERS = "o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1995-03-14'"


@dataclass(frozen=True)
class Round:
    """The changes that lead from one version of all tables to the next."""

    number: int
    share: float
    seed: int = SEED
    rename: bool = True
    """Whether nations (and each third time regions) exchange their names.

    Six renamed nations touch a quarter of all customers and suppliers, whatever the share is.
    """

    @property
    def old(self) -> str:
        """The schema with the tables before this round."""
        return f"v{self.number - 1}"

    @property
    def new(self) -> str:
        """The schema with the tables after this round."""
        return f"v{self.number}"

    @property
    def changes(self) -> str:
        """The schema with the netted changes of this round."""
        return f"c{self.number}"

    def statements(self) -> list[str]:
        """Return the statements that make the changes and the new version of every table."""
        return [
            f"CREATE SCHEMA {self.changes}",
            f"CREATE SCHEMA {self.new}",
            *(self._exchange(table, what) for table, what in self._exchanges().items()),
            self._new_orders(),
            *self._deleted_orders(),
            self._order_changes(),
            self._line_changes(),
            *(self._apply(table) for table in TABLES),
        ]

    def _exchanges(self) -> dict[str, Exchange]:
        nation = "n_name" if self.rename else "n_comment"
        region = "r_name" if self.rename and self.number % 3 == 0 else "r_comment"
        return exchanges(self.old, nation=nation, region=region)

    def _exchange(self, table: str, what: Exchange) -> str:
        wanted = str(what.rows) if what.rows else self._wanted(table)
        return f"""
            CREATE TABLE {self.changes}.{table} AS
            WITH drawn AS (
                SELECT *, {what.in_filters} AS filtered, {self._draw(table, key_list(table))} AS place
                FROM {self.old}.{table}
            ), picked AS (
                (FROM drawn WHERE filtered ORDER BY place LIMIT {wanted} // 2)
                UNION ALL
                (FROM drawn WHERE NOT filtered ORDER BY place LIMIT {wanted} - {wanted} // 2)
            ), exchanged AS (
                SELECT * REPLACE ({what.replacements()}) FROM picked
                WINDOW turn AS (ORDER BY place), whole AS (
                    ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                )
            ), signed AS (
                SELECT {column_list(table)}, 1 AS weight FROM exchanged
                UNION ALL
                SELECT {column_list(table)}, -1 AS weight FROM picked
            )
            SELECT {column_list(table)}, sum(weight)::BIGINT AS __st_weight
            FROM signed GROUP BY ALL HAVING sum(weight) <> 0
        """

    def _new_orders(self) -> str:
        """Copy some orders, each to a free key; keys of one round lie side by side."""
        gap = USED_KEYS_PER_BLOCK * (1 + (self.number - 1) % GAPS)
        wanted = self._wanted("orders")
        slots = f"""
            SELECT row_number() OVER (ORDER BY new_key) AS slot, new_key FROM (
                SELECT o_orderkey + {gap} AS new_key FROM {self.old}.orders
                WHERE o_orderkey % {KEYS_PER_BLOCK} < {USED_KEYS_PER_BLOCK}
                  AND o_orderkey + {gap} NOT IN (SELECT o_orderkey FROM {self.old}.orders)
                ORDER BY o_orderkey LIMIT {wanted} OFFSET {self._start("new")}
            )
        """
        models = f"""
            SELECT row_number() OVER (ORDER BY place) AS slot, o_orderkey AS model_key FROM (
                (FROM drawn WHERE filtered ORDER BY place LIMIT {wanted} // 2)
                UNION ALL
                (FROM drawn WHERE NOT filtered ORDER BY place LIMIT {wanted} - {wanted} // 2)
            )
        """
        return f"""
            CREATE OR REPLACE TEMP TABLE copied_orders AS
            WITH in_filters AS (
                SELECT l_orderkey FROM {self.old}.lineitem JOIN {self.old}.part
                ON l_partkey = p_partkey WHERE {PARTS_IN_FILTERS}
            ), drawn AS (
                SELECT o_orderkey, {self._draw("model", "o_orderkey")} AS place,
                    {_ORDER_DATES_IN_FILTERS}
                    OR o_orderkey IN (SELECT l_orderkey FROM in_filters) AS filtered
                FROM {self.old}.orders
            )
            SELECT slot, new_key, model_key FROM ({slots}) JOIN ({models}) USING (slot)
        """

    def _deleted_orders(self) -> list[str]:
        wanted = self._wanted("orders")
        in_gap = f"o_orderkey % {KEYS_PER_BLOCK} >= {USED_KEYS_PER_BLOCK}"
        return [
            f"""
            CREATE OR REPLACE TEMP TABLE deleted_orders AS
            SELECT o_orderkey FROM {self.old}.orders WHERE {in_gap}
            ORDER BY o_orderkey LIMIT {wanted} // 2
            """,
            f"""
            INSERT INTO deleted_orders
            SELECT o_orderkey FROM {self.old}.orders WHERE NOT {in_gap} ORDER BY o_orderkey
            LIMIT {wanted} - (SELECT count(*) FROM deleted_orders) OFFSET {self._start("deleted")}
            """,
        ]

    def _order_changes(self) -> str:
        """A copied order has any customer, also one who had none, and a price that is its own."""
        customers = f"(SELECT max(c_custkey) FROM {self.old}.customer)"
        return f"""
            CREATE TABLE {self.changes}.orders AS
            SELECT * EXCLUDE (slot, new_key, model_key) REPLACE (
                new_key AS o_orderkey,
                1 + {self._draw("customer", "new_key")} % {customers} AS o_custkey,
                (o_totalprice + 0.01 * slot)::DECIMAL(15, 2) AS o_totalprice
            ), 1::BIGINT AS __st_weight
            FROM copied_orders JOIN {self.old}.orders ON o_orderkey = model_key
            UNION ALL BY NAME
            SELECT *, -1::BIGINT AS __st_weight
            FROM {self.old}.orders SEMI JOIN deleted_orders USING (o_orderkey)
        """

    def _line_changes(self) -> str:
        """Copied lines are as queries want them: few lines that were generated are.

        All of a bulk order's lines are of 50 pieces.  Lines of parts that queries filter on come
        by air, in the quantities that these queries ask for.
        """
        pieces = f"""CASE
            WHEN bulk THEN 50
            WHEN filtered THEN [2, 15, 25][1 + {self._draw("pieces", "new_key, l_linenumber")} % 3]
            ELSE l_quantity
        END"""
        return f"""
            CREATE TABLE {self.changes}.lineitem AS
            WITH copied AS (
                SELECT *, {PARTS_IN_FILTERS} AS filtered,
                    count(*) OVER (PARTITION BY new_key) = {LINES_OF_A_BULK_ORDER} AS bulk
                FROM copied_orders JOIN {self.old}.lineitem ON l_orderkey = model_key
                JOIN {self.old}.part ON l_partkey = p_partkey
            ), weighed AS (
                SELECT *, ({pieces})::DECIMAL(15, 2) AS pieces FROM copied
            )
            SELECT {column_list("lineitem")}, 1::BIGINT AS __st_weight FROM (
                SELECT * REPLACE (
                    new_key AS l_orderkey,
                    pieces AS l_quantity,
                    (l_extendedprice / l_quantity * pieces + 0.01 * slot)::DECIMAL(15, 2)
                        AS l_extendedprice,
                    CASE WHEN filtered THEN 'AIR' ELSE l_shipmode END AS l_shipmode,
                    CASE WHEN filtered THEN 'DELIVER IN PERSON' ELSE l_shipinstruct END
                        AS l_shipinstruct
                ) FROM weighed
            )
            UNION ALL
            SELECT *, -1::BIGINT AS __st_weight
            FROM {self.old}.lineitem SEMI JOIN deleted_orders ON l_orderkey = o_orderkey
        """

    def _apply(self, table: str) -> str:
        return f"""
            CREATE TABLE {self.new}.{table} AS
            FROM {self.old}.{table} ANTI JOIN (
                FROM {self.changes}.{table} WHERE __st_weight < 0
            ) USING ({key_list(table)})
            UNION ALL
            SELECT {column_list(table)} FROM {self.changes}.{table} WHERE __st_weight > 0
        """

    def _wanted(self, table: str) -> str:
        share = f"(SELECT round(count(*) * {self.share})::BIGINT FROM {self.old}.{table})"
        return f"greatest({FEWEST_ROWS}, {share})"

    def _start(self, purpose: str) -> str:
        """Return where in the order of keys the orders of one purpose begin."""
        most = f"(SELECT (count(*) * (1 - 2 * {self.share}))::BIGINT FROM {self.old}.orders)"
        return f"{self._draw(purpose, '0')} % greatest(1, {most})"

    def _draw(self, purpose: str, key: str) -> str:
        """Return a number of 63 bits for each key."""
        of = f"concat_ws('/', {self.seed}, {self.number}, '{purpose}', {key})"
        return f"(md5_number_lower({of}) >> 1)::BIGINT"
