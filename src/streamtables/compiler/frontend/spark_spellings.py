"""What Spark reads otherwise than sqlglot: put right before anything is bound."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.functions import WITH_UNIT

_UNITS = {
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND"),
    *("MILLISECOND", "MICROSECOND"),
}
_OF_A_SUBQUERY = ("order", "limit", "offset")
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


def joined_quotes(tokens: Iterable[Token], sql: str) -> list[Token]:
    """Return the tokens with `'O''Brien'` as one text: a quote that is doubled is a quote in it."""
    found: list[Token] = []
    for token in tokens:
        if found and _goes_on(found[-1], token, sql):
            text = f"{found[-1].text}{sql[token.start]}{token.text}"
            first = found.pop()
            token = Token(
                TokenType.STRING,
                text,
                first.line,
                first.col,
                first.start,
                token.end,
                [*first.comments, *token.comments],
            )
        found.append(token)
    return found


def window_names(tokens: list[Token]) -> list[Token]:
    """Return the tokens with WINDOW as a plain word, except where it opens its clause.

    `window` is a function too, and the column that it makes.
    """
    found: list[Token] = []
    for place, token in enumerate(tokens):
        after = [item.token_type for item in tokens[place + 1 : place + 3]]
        opens = len(after) == 2 and after[1] == TokenType.ALIAS and after[0] in _NAMES
        if token.token_type == TokenType.WINDOW and not opens:
            token = Token(
                TokenType.VAR,
                token.text,
                token.line,
                token.col,
                token.start,
                token.end,
                list(token.comments),
            )
        found.append(token)
    return found


def _goes_on(first: Token, second: Token, sql: str) -> bool:
    both = first.token_type == second.token_type == TokenType.STRING
    return both and first.end + 1 == second.start and sql[first.end] == sql[second.start]


def respelled(query: exp.Expr) -> exp.Expr:
    """Return the tree with units as words, and each part of a query where binding looks for it."""
    for node in list(query.walk(bfs=False)):
        if isinstance(node, exp.Anonymous) and str(node.this).lower() in WITH_UNIT:
            _name_the_unit(node)
        elif isinstance(node, exp.Subquery):
            _wrap_the_ordered(node)
        elif isinstance(node, exp.Query) and _is_all(node.args.get("limit")):
            node.set("limit", None)
    return query


def _is_all(limit: exp.Expr | None) -> bool:
    """Whether this is LIMIT ALL, which is none."""
    return isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Var)


def _name_the_unit(call: exp.Anonymous) -> None:
    unit = call.expressions[0] if len(call.expressions) == 3 else None
    if isinstance(unit, exp.Column) and not unit.table and unit.name.upper() in _UNITS:
        unit.replace(exp.Var(this=unit.name.upper()))


def _wrap_the_ordered(subquery: exp.Subquery) -> None:
    """Have `(query) ORDER BY … LIMIT …` be a query over the one in parentheses."""
    taken = {name: subquery.args[name] for name in _OF_A_SUBQUERY if subquery.args.get(name)}
    inner = subquery.this
    if not taken or not isinstance(inner, exp.Query):
        return
    outer = exp.select("*").from_(exp.Subquery(this=inner.copy()), copy=False)
    for name, value in taken.items():
        outer.set(name, value.copy())
        subquery.set(name, None)
    subquery.set("this", outer)
