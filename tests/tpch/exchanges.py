"""Which values the rows of each table exchange in a round.

Exchanged values stay within their domains, and a row that gains a property a query filters on
takes it from a row that loses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS_IN_FILTERS = """(
    (p_size = 15 AND p_type LIKE '%BRASS')
    OR (p_brand = 'Brand#23' AND p_container = 'MED BOX')
    OR (p_brand = 'Brand#12' AND p_container LIKE 'SM %' AND p_size <= 5)
    OR (p_brand = 'Brand#23' AND p_container LIKE 'MED %' AND p_size <= 10)
    OR (p_brand = 'Brand#34' AND p_container LIKE 'LG %' AND p_size <= 15)
    OR p_type = 'ECONOMY ANODIZED STEEL'
    OR p_name LIKE 'forest%'
)"""
_COUNTRY_CODES = "('13', '31', '23', '29', '30', '18', '17')"


@dataclass(frozen=True)
class Exchange:
    """Which columns of a table are exchanged, and which rows queries filter on.

    Columns that one filter reads together move together; others move the opposite way, as a query
    that groups by all of them would otherwise see the same groups again.
    """

    in_filters: str
    from_next: tuple[str, ...]
    from_previous: tuple[str, ...] = ()
    rows: int | None = None
    """How many rows change; without it, the share of the table."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Values that each fifth row is given, where small tables have no row with them."""

    def replacements(self) -> str:
        """Return the exchanged columns as expressions over the drawn order."""
        taken = {name: self._from("lead", "first_value", name) for name in self.from_next}
        taken |= {name: self._from("lag", "last_value", name) for name in self.from_previous}
        for name, value in self.given.items():
            taken[name] = f"CASE WHEN place % 5 = 0 THEN {value} ELSE {taken[name]} END"
        return ", ".join(f"{value} AS {name}" for name, value in taken.items())

    def _from(self, neighbour: str, end: str, name: str) -> str:
        # The order is a ring: the last row is followed by the first.
        return f"coalesce({neighbour}({name}) OVER turn, {end}({name}) OVER whole)"


def exchanges(old: str, *, nation: str, region: str) -> dict[str, Exchange]:
    """Return what each table but orders and lineitem exchanges, read from the schema `old`.

    `nation` and `region` name the column that these two exchange.
    """
    parts = f"SELECT p_partkey FROM {old}.part WHERE {PARTS_IN_FILTERS}"
    nations = "n_nationkey IN (2, 3, 6, 7, 20)"
    return {
        "region": Exchange("r_name IN ('EUROPE', 'ASIA', 'AMERICA')", (region,), rows=2),
        "nation": Exchange(nations, (nation,), rows=6),
        "supplier": Exchange(
            "s_nationkey IN (2, 3, 6, 7, 20) OR s_comment LIKE '%Customer%Complaints%'",
            ("s_nationkey",),
            ("s_acctbal", "s_comment"),
        ),
        "customer": Exchange(
            f"c_mktsegment = 'BUILDING' OR substring(c_phone, 1, 2) IN {_COUNTRY_CODES}",
            ("c_nationkey", "c_phone"),
            ("c_acctbal", "c_mktsegment"),
        ),
        "part": Exchange(
            PARTS_IN_FILTERS,
            ("p_name", "p_brand", "p_container"),
            ("p_type", "p_size"),
            given={"p_brand": "'Brand#23'", "p_container": "'MED BOX'", "p_size": "5"},
        ),
        "partsupp": Exchange(f"ps_partkey IN ({parts})", ("ps_supplycost",), ("ps_availqty",)),
    }
