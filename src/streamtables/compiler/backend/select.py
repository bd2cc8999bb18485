"""Small pieces of SQL that every operator's rendering is made of."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from streamtables.compiler.algebra.node import WEIGHT, Node


def name(text: str) -> exp.Identifier:
    """Return a quoted identifier: the one place where a name becomes SQL."""
    return exp.to_identifier(text, quoted=True)


def ref(column: str, table: str | None = None) -> exp.Column:
    """Return a reference to a column, of one relation when names alone do not tell."""
    return exp.Column(this=name(column), table=name(table) if table else None)


def aliased(expression: exp.Expr, shown: str) -> exp.Expr:
    """Return `expression AS shown`, without the alias where it would repeat the name."""
    if isinstance(expression, exp.Column) and expression.name == shown:
        return expression
    return exp.Alias(this=expression, alias=name(shown))


def refs(node: Node, table: str | None = None) -> list[exp.Expr]:
    """Return references to all columns of a relation, the weight included when it has one."""
    found: list[exp.Expr] = [ref(column, table) for column in node.names]
    return [*found, ref(WEIGHT, table)] if node.signed else found


def select(
    columns: Iterable[exp.Expr],
    source: exp.Expr,
    *,
    where: exp.Expr | None = None,
) -> exp.Select:
    """Return `SELECT columns FROM source [WHERE …]`."""
    query = exp.Select(expressions=list(columns), from_=exp.From(this=source))
    if where is not None:
        query.set("where", exp.Where(this=where.copy()))
    return query


def one() -> exp.Expr:
    """Return the weight of a plain row."""
    return exp.cast(exp.Literal.number(1), "bigint", dialect="spark")
