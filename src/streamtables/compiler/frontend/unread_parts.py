"""No part of a query is passed over: what the front end would not read is refused with its place.

sqlglot reads more than Spark's SQL, and keeps what it read beside the parts that every dialect has.
A part that nobody asks for would change the meaning of the query in silence.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.places import span_of
from streamtables.errors import UnsupportedSqlError

_ROWS = ("order", "limit", "offset", "with_")

_READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Table: (
        *("this", "alias", "db", "catalog", "joins", "pivots"),
        # These are refused by name.
        *("sample", "version", "when"),
    ),
    exp.Subquery: ("this", "alias", "joins", "pivots", "sample"),
    exp.Union: ("this", "expression", "distinct", "by_name", *_ROWS),
    exp.Except: ("this", "expression", "distinct", "by_name", *_ROWS),
    exp.Intersect: ("this", "expression", "distinct", "by_name", *_ROWS),
    exp.Join: ("this", "on", "side", "kind", "using", "method"),
    exp.Lateral: ("this", "view", "outer", "alias"),
    exp.Limit: ("expression",),
    exp.Offset: ("expression",),
    exp.Fetch: (),
    exp.Order: ("this", "expressions"),
    exp.Ordered: ("this", "desc", "nulls_first"),
    exp.Window: ("this", "partition_by", "order", "spec", "alias", "over"),
    exp.WindowSpec: ("kind", "start", "start_side", "end", "end_side"),
    exp.With: ("expressions", "recursive"),
    exp.CTE: ("this", "alias"),
    exp.Star: ("except_", "replace", "rename"),
    exp.Values: ("expressions", "alias"),
    exp.In: ("this", "expressions", "query"),
    exp.Cast: ("this", "to", "safe"),
    exp.TryCast: ("this", "to", "safe"),
    exp.GroupConcat: ("this", "separator"),
}


_NAMES: dict[type[exp.Expr], str] = {
    exp.WindowSpec: "a window frame",
    exp.Window: "OVER",
    exp.TableAlias: "a table's name",
    exp.Table: "a table",
    exp.Subquery: "a subquery",
    exp.Ordered: "ORDER BY",
    exp.Order: "ORDER BY",
    exp.CTE: "WITH",
    exp.GroupConcat: "listagg",
    exp.Star: "*",
    exp.TryCast: "CAST",
}


def check_all_is_read(query: exp.Expr, sql: str) -> None:
    """Refuse a query that holds a part which no rule reads."""
    for node in query.walk():
        read = _READ.get(type(node))
        for name, value in node.args.items() if read is not None else ():
            if value and name not in (read or ()):
                raise _unread(node, sql)
        if isinstance(node, exp.TableAlias) and isinstance(node.this, exp.Parameter):
            raise _unread(node, sql)


def _unread(node: exp.Expr, sql: str) -> UnsupportedSqlError:
    shown = _NAMES.get(type(node), type(node).__name__.upper())
    return UnsupportedSqlError(
        f"this form of {shown} is not part of Spark's SQL, or is not read yet",
        sql=sql,
        span=span_of(node) or span_of(node.parent),
        hint="Write the query without it.",
    )
