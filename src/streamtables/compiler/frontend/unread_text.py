"""The tables of a query that the parser cannot read, found by its words.

Spark has syntax that sqlglot lacks (`a >>> 1`, `MAX RECURSION LEVEL`).  Such a text can run in
Spark as it was written, over other relations, once the words that name tables are known: those
after FROM, JOIN and TABLE, and after the commas of a FROM list.  The trap: FROM has other meanings
too (`EXTRACT(DAY FROM d)`, `IS DISTINCT FROM`), and a word may mean a named query.  What could mean
two things is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.dialect import tokens_of
from streamtables.compiler.frontend.scope import find_table, table_name
from streamtables.compiler.library import Library
from streamtables.compiler.schema import Schema
from streamtables.errors import Span, SqlSyntaxError

_OPENS_A_QUERY = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.FROM})
_ENDS_A_FROM = frozenset(
    {
        TokenType.WHERE,
        TokenType.GROUP_BY,
        TokenType.ORDER_BY,
        TokenType.SORT_BY,
        TokenType.CLUSTER_BY,
        TokenType.DISTRIBUTE_BY,
        TokenType.HAVING,
        TokenType.QUALIFY,
        TokenType.WINDOW,
        TokenType.LIMIT,
        TokenType.OFFSET,
        TokenType.UNION,
        TokenType.INTERSECT,
        TokenType.EXCEPT,
        TokenType.PIPE_GT,
    }
)
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_BETWEEN_NAME_AND_AS = frozenset({"MAX", "RECURSION", "LEVEL"})


def tables_named(sql: str, schema: Schema, library: Library) -> list[exp.Table]:
    """Return the references to tables and views, each with its place in the text.

    Raises:
        SqlSyntaxError: the words do not tell which tables the text reads.
    """
    tokens = tokens_of(sql)
    _refuse_statements(tokens, sql)
    _refuse_own_calls(tokens, sql, library)
    named = _named_queries(tokens)
    found = []
    for first, last in _relations(tokens):
        table = _table(tokens, first, last)
        name = table_name(table)
        is_known = find_table(name, schema) is not None or library.view(name) is not None
        if name.lower() not in named:
            found.append(table)
        elif is_known:
            raise _unclear(sql, tokens[first], f'"{name}" may mean a table or a named query')
    if not found:
        raise _unclear(sql, tokens[0] if tokens else None, "no table was found in it")
    return found


def without_end(sql: str) -> str:
    """Return a text without the semicolon that ends it."""
    tokens = tokens_of(sql)
    ends = tokens and tokens[-1].token_type == TokenType.SEMICOLON
    return sql[: tokens[-1].start] if ends else sql


@dataclass
class _Parentheses:
    """What is known of the text between two parentheses, or of all of it."""

    queries: bool
    """Whether a FROM in it opens a list of relations."""
    awaited: bool = False
    """Whether a relation comes next."""
    commas: bool = False
    """Whether a relation comes after a comma."""


def _relations(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last word of every name that stands in the place of a relation."""
    around = [_Parentheses(queries=True)]
    at = 0
    while at < len(tokens):
        here, token = around[-1], tokens[at]
        if here.awaited and _is_name(tokens, at):
            last = _end_of_name(tokens, at)
            here.awaited = False
            if not _is(tokens, last + 1, TokenType.L_PAREN):
                yield at, last
            at = last + 1
            continue
        _follow(token, tokens, at, around)
        at += 1


def _follow(token: Token, tokens: list[Token], at: int, around: list[_Parentheses]) -> None:
    """Take note of a word that is not the name of a relation."""
    here, kind = around[-1], token.token_type
    if kind == TokenType.L_PAREN:
        inside = tokens[at + 1].token_type if at + 1 < len(tokens) else None
        relations = (here.awaited or _is(tokens, at - 1, TokenType.TABLE)) and (
            inside not in _OPENS_A_QUERY
        )
        here.awaited = False
        around.append(_Parentheses(inside in _OPENS_A_QUERY or relations, relations, relations))
    elif kind == TokenType.R_PAREN and len(around) > 1:
        around.pop()
    elif kind == TokenType.SELECT:
        here.queries, here.awaited, here.commas = True, False, False
    elif kind == TokenType.FROM:
        if here.queries and not _is(tokens, at - 1, TokenType.DISTINCT):
            here.awaited, here.commas = True, True
    elif kind == TokenType.JOIN:
        here.awaited, here.commas = here.queries, here.queries
    elif kind == TokenType.TABLE:
        here.awaited = True
    elif kind == TokenType.COMMA:
        here.awaited = here.commas
    elif kind in _ENDS_A_FROM:
        here.awaited, here.commas = False, False
    elif kind == TokenType.LATERAL:
        # The columns of LATERAL VIEW are named behind commas.
        here.commas = here.commas and not _is(tokens, at + 1, TokenType.VIEW)
        here.awaited = here.awaited and here.commas
    else:
        here.awaited = False


def _is(tokens: list[Token], at: int, kind: TokenType) -> bool:
    return 0 <= at < len(tokens) and tokens[at].token_type == kind


def _is_name(tokens: list[Token], at: int) -> bool:
    return tokens[at].token_type in _NAMES


def _end_of_name(tokens: list[Token], at: int) -> int:
    while _is(tokens, at + 1, TokenType.DOT) and at + 2 < len(tokens):
        at += 2
    return at


def _table(tokens: list[Token], first: int, last: int) -> exp.Table:
    parts = [_identifier(token) for token in tokens[first : last + 1 : 2]]
    table = exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))
    if _is(tokens, last + 1, TokenType.ALIAS) or (
        last + 1 < len(tokens) and _is_name(tokens, last + 1)
    ):
        # Whatever the alias is, it stays where it stands.
        table.set("alias", exp.TableAlias(this=exp.to_identifier("written")))
    table.set("sample", _is(tokens, last + 1, TokenType.TABLE_SAMPLE) or None)
    return table


def _identifier(token: Token) -> exp.Identifier:
    name = exp.to_identifier(token.text, quoted=True)
    name.meta.update(start=token.start, end=token.end)
    return name


def _named_queries(tokens: list[Token]) -> set[str]:
    """Return the names before `AS (`: those of WITH, and of windows, which do no harm here."""
    found = set()
    for at, token in enumerate(tokens):
        if token.token_type == TokenType.ALIAS and _is(tokens, at + 1, TokenType.L_PAREN):
            name = at - 1
            while name > 0 and (
                tokens[name].token_type == TokenType.NUMBER
                or tokens[name].text.upper() in _BETWEEN_NAME_AND_AS
            ):
                name -= 1
            if _is(tokens, name, TokenType.R_PAREN):
                name = _opening(tokens, name) - 1
            if name >= 0:
                found.add(tokens[name].text.lower())
    return found


def _opening(tokens: list[Token], at: int) -> int:
    depth = 0
    while at > 0:
        depth += _is(tokens, at, TokenType.R_PAREN) - _is(tokens, at, TokenType.L_PAREN)
        if depth == 0:
            break
        at -= 1
    return at


def _refuse_statements(tokens: list[Token], sql: str) -> None:
    for token in tokens[:1]:
        if token.token_type not in _OPENS_A_QUERY | {TokenType.L_PAREN}:
            raise _unclear(sql, token, "it does not begin like a query")
    for token in tokens[:-1]:
        if token.token_type == TokenType.SEMICOLON:
            raise _unclear(sql, token, "it is more than one statement")


def _refuse_own_calls(tokens: Iterable[Token], sql: str, library: Library) -> None:
    """Own functions are written out in a parsed query, and names can be told by a function."""
    for token in tokens:
        name = token.text.lower()
        if token.token_type in _NAMES and (name == "identifier" or library.function(name)):
            raise _unclear(sql, token, f'what "{token.text}" means cannot be told')


def _unclear(sql: str, token: Token | None, why: str) -> SqlSyntaxError:
    return SqlSyntaxError(
        "the tables of the query cannot be found",
        sql=sql,
        span=Span(token.start, token.end + 1) if token is not None else None,
        detail=f"Which tables it reads is not clear: {why}.",
        hint="Write the part that cannot be read in another way, or in a view of Spark's catalog.",
    )
