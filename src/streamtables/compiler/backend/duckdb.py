"""Spark's SQL for DuckDB, which proves the rules quickly; Spark itself is the truth."""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp


def spark_to_duckdb(sql: str, *, pretty: bool = False) -> str:
    """Return a statement in DuckDB's SQL, as sqlglot's own Spark dialect understands it."""
    return tree_to_duckdb(sqlglot.parse_one(sql, read="spark"), pretty=pretty)


def tree_to_duckdb(tree: exp.Expr, *, pretty: bool = False) -> str:
    """Return a parsed statement in DuckDB's SQL; the tree is used up."""
    # What is inside comes first: a node may be copied by the one around it.
    for node in reversed(list(tree.walk())):
        if translate := _TRANSLATED.get(type(node)):
            translate(node)
    return tree.sql("duckdb", identify=True, pretty=pretty, copy=False)


def _json(call: exp.Expr) -> None:
    """DuckDB's JSON shows microseconds without being told."""
    call.set("options", None)


def _count(count: exp.Expr) -> None:
    """COUNT of several values counts the rows in which none of them is NULL."""
    if count.expressions:
        values = [count.this, *count.expressions]
        present = [exp.Not(this=exp.Is(this=value, expression=exp.null())) for value in values]
        counted = exp.Case(ifs=[exp.If(this=exp.and_(*present), true=exp.Literal.number(1))])
        count.replace(exp.Count(this=counted))


def _count_if(count: exp.Expr) -> None:
    """DuckDB's COUNT_IF of NULLs alone is NULL."""
    counted = exp.Case(ifs=[exp.If(this=count.this, true=exp.Literal.number(1))])
    count.replace(exp.Count(this=counted))


def _list(items: exp.Expr) -> None:
    """DuckDB's list of nothing is NULL, not empty."""
    whole = items
    while isinstance(whole.parent, exp.Filter | exp.Window):
        whole = whole.parent
    whole.replace(exp.Coalesce(this=whole.copy(), expressions=[exp.Array()]))


def _set(items: exp.Expr) -> None:
    """A set leaves NULLs out by a FILTER, and DuckDB takes only one."""
    if isinstance(items.parent, exp.Filter):
        where = items.parent.expression
        present = exp.Not(this=exp.Is(this=items.this.copy(), expression=exp.null()))
        where.set("this", exp.and_(where.this, present))
        items = items.replace(exp.ArrayAgg(this=exp.Distinct(expressions=[items.this.copy()])))
    _list(items)


def _reduce(call: exp.Expr) -> None:
    """DuckDB adds a sorted list from its first item on, and takes no function for the end."""
    if (finish := call.args.get("finish")) is None:
        call.replace(exp.Anonymous(this="list_sum", expressions=[call.this]))
        return
    reduced = [call.this, call.args["merge"], call.args["initial"]]
    last = exp.Array(expressions=[exp.Anonymous(this="list_reduce", expressions=reduced)])
    ended = exp.Anonymous(this="list_transform", expressions=[last, finish])
    call.replace(exp.Anonymous(this="list_extract", expressions=[ended, exp.Literal.number(1)]))


def _lateral(view: exp.Expr) -> None:
    """OUTER keeps a row without items; DuckDB's UNNEST needs one item to do so."""
    if view.args.get("outer") and isinstance(view.this, exp.Explode | exp.Posexplode):
        items = view.this.this
        some = exp.GT(
            this=exp.Anonymous(this="len", expressions=[items.copy()]),
            expression=exp.Literal.number(0),
        )
        nothing = exp.Array(expressions=[exp.null()])
        view.this.set("this", exp.If(this=some, true=items.copy(), false=nothing))


def _join(join: exp.Expr) -> None:
    """A table function in a join is a relation for DuckDB, not a view beside it."""
    made = join.this
    if isinstance(made, exp.Lateral) and type(made.this) is exp.Explode:
        name = made.args["alias"]
        join.set("this", exp.Unnest(expressions=[made.this.this], alias=name))


def _collate(text: exp.Expr) -> None:
    """DuckDB has another name for the collation without regard to case."""
    if text.expression.name.upper() == "UTF8_LCASE":
        text.set("expression", exp.var("NOCASE"))


def _mode(mode: exp.Expr) -> None:
    """The least of the most frequent values, where the text asks for one of them."""
    if mode.args.get("deterministic"):
        ordered = exp.Order(this=mode.this, expressions=[exp.Ordered(this=mode.this.copy())])
        mode.replace(exp.Anonymous(this="mode", expressions=[ordered]))


_NAMES = {"raise_error": "error", "timestamp_micros": "make_timestamptz"}
"""What sqlglot leaves as it is, and DuckDB knows by another name."""


def _named(call: exp.Expr) -> None:
    """Call a function by DuckDB's name for it."""
    call.set("this", _NAMES.get(call.name.lower(), call.this))


def _hint(hint: exp.Expr) -> None:
    """A hint is for Spark's planner."""
    hint.pop()


_TRANSLATED: dict[type[exp.Expr], Callable[[exp.Expr], None]] = {
    exp.Anonymous: _named,
    exp.JSONFormat: _json,
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ArrayAgg: _list,
    exp.ArrayUniqueAgg: _set,
    exp.Reduce: _reduce,
    exp.Lateral: _lateral,
    exp.Mode: _mode,
    exp.Hint: _hint,
    exp.Join: _join,
    exp.Collate: _collate,
}
