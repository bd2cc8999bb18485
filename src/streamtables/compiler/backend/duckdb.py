"""Spark's SQL for DuckDB, which proves the rules quickly; Spark itself is the truth."""

from __future__ import annotations

import sqlglot
from sqlglot import exp


def spark_to_duckdb(sql: str, *, pretty: bool = False) -> str:
    """Return a statement in DuckDB's SQL, as sqlglot's own Spark dialect understands it."""
    tree = sqlglot.parse_one(sql, read="spark")
    for call in tree.find_all(exp.JSONFormat):
        # DuckDB's JSON shows microseconds without being told.
        call.set("options", None)
    for count in list(tree.find_all(exp.Count)):
        if count.expressions:
            # COUNT of several values counts the rows in which none of them is NULL.
            values = [count.this, *count.expressions]
            present = [exp.Not(this=exp.Is(this=value, expression=exp.null())) for value in values]
            counted = exp.Case(ifs=[exp.If(this=exp.and_(*present), true=exp.Literal.number(1))])
            count.replace(exp.Count(this=counted))
    for count_if in list(tree.find_all(exp.CountIf)):
        # DuckDB's COUNT_IF of NULLs alone is NULL.
        counted = exp.Case(ifs=[exp.If(this=count_if.this, true=exp.Literal.number(1))])
        count_if.replace(exp.Count(this=counted))
    for items in list(tree.find_all(exp.ArrayAgg, exp.ArrayUniqueAgg)):
        # DuckDB's list of nothing is NULL, not empty.
        whole: exp.Expr = items
        while isinstance(whole.parent, exp.Filter | exp.Window):
            whole = whole.parent
        whole.replace(exp.Coalesce(this=whole.copy(), expressions=[exp.Array()]))
    for sum_ in list(tree.find_all(exp.Reduce)):
        # Sums in a fixed order; DuckDB adds a sorted list from its first item on.
        sum_.replace(exp.Anonymous(this="list_sum", expressions=[sum_.this]))
    for view in tree.find_all(exp.Lateral):
        if view.args.get("outer") and isinstance(view.this, exp.Explode | exp.Posexplode):
            # OUTER keeps a row without items; DuckDB's UNNEST needs one item to do so.
            items = view.this.this
            some = exp.GT(
                this=exp.Anonymous(this="len", expressions=[items.copy()]),
                expression=exp.Literal.number(0),
            )
            nothing = exp.Array(expressions=[exp.null()])
            view.this.set("this", exp.If(this=some, true=items.copy(), false=nothing))
    for mode in list(tree.find_all(exp.Mode)):
        if mode.args.get("deterministic"):
            ordered = exp.Order(this=mode.this, expressions=[exp.Ordered(this=mode.this.copy())])
            mode.replace(exp.Anonymous(this="mode", expressions=[ordered]))
    for hint in list(tree.find_all(exp.Hint)):
        hint.pop()
    return tree.sql("duckdb", identify=True, pretty=pretty)
