"""Spark's SQL as this compiler reads and writes it: functions stay as they were written.

sqlglot's own Spark dialect turns function calls into its canonical forms and back, which is right
for translation but may change a call's meaning in a corner.  Here a call keeps its name and its
arguments, so that the text Spark gets is the text the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.places import forget_places, span_of
from streamtables.compiler.frontend.spark_spellings import joined_quotes, respelled, window_names
from streamtables.compiler.frontend.syntax_errors import syntax_error, too_deep, unreadable
from streamtables.compiler.frontend.unread_parts import check_all_is_read
from streamtables.errors import Span, SqlSyntaxError, UnsupportedSqlError

# Calls with a syntax of their own; all others are a name and a list of arguments.
_SPECIAL_SYNTAX = (
    "CAST",
    "EXTRACT",
    "LISTAGG",
    "OVERLAY",
    "POSITION",
    "STRING_AGG",
    "SUBSTR",
    "SUBSTRING",
    "TRIM",
    "TRY_CAST",
)

__all__ = ["VerbatimSpark", "forget_places", "parse_query", "span_of", "tokens_of"]

_ENDS_A_LIST = frozenset(
    {TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY}
)


class _VerbatimParser(SparkParser):
    """Reads every call without a syntax of its own as a name and its arguments."""

    # `array(1, 2)[0]` is an item of the array, and a join has the condition that is written.
    ARRAY_CONSTRUCTORS: ClassVar[dict[str, type[exp.Func]]] = {}
    ADD_JOIN_ON_TRUE = False
    FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
    FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in _SPECIAL_SYNTAX}

    def _warn_unsupported(self) -> None:
        """Say nothing: the statement is refused with its place, and its text stays out of logs."""


class _VerbatimGenerator(SparkGenerator):
    """Writes a SELECT as it is: none of sqlglot's rewrites for features that Spark lacks."""

    TRANSFORMS = {k: v for k, v in SparkGenerator.TRANSFORMS.items() if k is not exp.Select}


class VerbatimSpark(Spark):
    """Spark's dialect without any rewriting of function calls."""

    Parser = _VerbatimParser
    Generator = _VerbatimGenerator

    def tokenize(self, sql: str, dialect: DialectType = None) -> list[Token]:
        """Return the tokens of a text, as Spark reads it."""
        return window_names(joined_quotes(super().tokenize(sql, dialect), sql))


class PlainWords(VerbatimSpark):
    """The same, with statements such as SHOW and EXPLAIN as words, not as one lump of text."""

    class Tokenizer(Spark.Tokenizer):
        """No word swallows the rest of its statement."""

        COMMANDS: ClassVar = set()


def parse_query(sql: str) -> exp.Query:
    """Parse one query; anything else is an error with its place."""
    try:
        statements = [item for item in VerbatimSpark().parse(sql) if item is not None]
    except ParseError as error:
        raise syntax_error(sql, error) from error
    except TokenError as error:
        raise unreadable(sql) from error
    except RecursionError as error:
        raise too_deep(sql) from error
    if len(statements) != 1:
        raise _not_one(sql, len(statements))
    (statement,) = statements
    _refuse_stray_commas(sql)
    statement = respelled(statement)
    check_all_is_read(statement, sql)
    if isinstance(statement, exp.Subquery):
        statement = statement.unnest()
    if isinstance(statement, exp.Values):
        statement = exp.select("*").from_(statement)
    if not isinstance(statement, exp.Query):
        word = tokens_of(sql)[0]
        raise UnsupportedSqlError(
            f"a stream table is defined by a query, not by {word.text.upper()}",
            sql=sql,
            span=Span(word.start, word.end + 1),
            hint="Start with SELECT or WITH.",
        )
    return statement


def _refuse_stray_commas(sql: str) -> None:
    """Refuse an empty place in a list, which sqlglot passes over in silence."""
    comma = None
    for token in tokens_of(sql):
        if comma is not None and token.token_type in _ENDS_A_LIST:
            raise SqlSyntaxError(
                'syntax error near ","',
                sql=sql,
                span=Span(comma.start, comma.end + 1),
                detail="Something is missing after a comma.",
                hint="Take the comma away, or write what should follow it.",
            )
        comma = token if token.token_type == TokenType.COMMA else None


def _not_one(sql: str, count: int) -> SqlSyntaxError:
    ends = [token for token in tokens_of(sql) if token.token_type == TokenType.SEMICOLON]
    return SqlSyntaxError(
        f"expected one query, found {count or 'no'} statement{'s' if count > 1 else ''}",
        sql=sql,
        span=Span(ends[0].start, ends[0].end + 1) if ends else None,
        hint="Give one SELECT, without a second statement after a semicolon.",
    )


def tokens_of(sql: str) -> list[Token]:
    """Split SQL text into tokens, each with its place."""
    try:
        return PlainWords().tokenize(sql)
    except TokenError as error:
        raise unreadable(sql) from error
