"""Spark's SQL as this compiler reads and writes it: functions stay as they were written.

sqlglot's own Spark dialect turns function calls into its canonical forms and back, which is right
for translation but may change a call's meaning in a corner.  Here a call keeps its name and its
arguments, so that the text Spark gets is the text the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token

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


class _VerbatimParser(SparkParser):
    """Reads every call without a syntax of its own as a name and its arguments."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
    FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in _SPECIAL_SYNTAX}


class VerbatimSpark(Spark):
    """Spark's dialect without any rewriting of function calls."""

    Parser = _VerbatimParser


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
        raise _syntax_error(sql, error) from error
    except TokenError as error:
        raise SqlSyntaxError(
            "the text cannot be read as SQL", sql=sql, detail=str(error)
        ) from error
    if len(statements) != 1:
        found = "no statement" if not statements else f"{len(statements)} statements"
        raise SqlSyntaxError(
            f"expected one query, found {found}",
            sql=sql,
            hint="Give one SELECT, without a second statement after a semicolon.",
        )
    (statement,) = statements
    if isinstance(statement, exp.Subquery):
        statement = statement.unnest()
    if not isinstance(statement, exp.Query):
        word = sql.split(maxsplit=1)[0].upper()
        raise UnsupportedSqlError(
            f"a stream table is defined by a query, not by {word}",
            sql=sql,
            hint="Start with SELECT, WITH or VALUES.",
        )
    return statement


def tokens_of(sql: str) -> list[Token]:
    """Split SQL text into tokens, each with its place."""
    try:
        return PlainWords().tokenize(sql)
    except TokenError as error:
        raise SqlSyntaxError(
            "the text cannot be read as SQL", sql=sql, detail=str(error)
        ) from error


def span_of(node: exp.Expr | None) -> Span | None:
    """Return the place of an expression: of the first of its parts whose place is known."""
    if node is None:
        return None
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not places:
        return None
    first = min(places, key=lambda meta: int(meta["start"]))
    last = max(places, key=lambda meta: int(meta["end"]))
    return Span(int(first["start"]), int(last["end"]) + 1)


def _syntax_error(sql: str, error: ParseError) -> SqlSyntaxError:
    first = error.errors[0] if error.errors else {}
    highlight = str(first.get("highlight") or "")
    span = None
    if "line" in first:
        lines = sql.splitlines(keepends=True)
        end = sum(len(line) for line in lines[: int(first["line"]) - 1]) + int(first["col"])
        span = Span(max(0, end - max(1, len(highlight))), max(1, end))
    where = f' near "{highlight}"' if highlight.strip() else ""
    return SqlSyntaxError(
        f"syntax error{where}",
        sql=sql,
        span=span,
        detail=str(first.get("description") or error).strip().rstrip(".") + ".",
        hint="Check the query in Spark SQL; a word before this place may be missing or misspelt.",
    )
