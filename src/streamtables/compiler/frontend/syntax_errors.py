"""What the parser could not read, as an error with a place and without its internals."""

from __future__ import annotations

from sqlglot.errors import ParseError

from streamtables.errors import Span, SqlSyntaxError, UnsupportedSqlError

_QUOTES = "'\"`"
_HINT = "Check the query in Spark SQL; a word before this place may be missing or misspelt."


def syntax_error(sql: str, error: ParseError) -> SqlSyntaxError:
    """Return the first error of the parser, at its place."""
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
        detail=_described(str(first.get("description") or "")),
        hint=_HINT,
    )


def _described(text: str) -> str:
    """Return the parser's words, where they are words for people."""
    plain = text.strip().rstrip(".")
    return "Something is missing or out of place." if not plain or "<" in plain else f"{plain}."


def unreadable(sql: str) -> SqlSyntaxError:
    """Return the error for text that cannot even be split into words."""
    open_at = _open_quote(sql)
    return SqlSyntaxError(
        "the text cannot be read as SQL",
        sql=sql,
        span=Span(open_at, open_at + 1) if open_at is not None else None,
        detail="A string, a quoted name or a comment does not end.",
        hint="Close the quote or the comment.",
    )


def _open_quote(sql: str) -> int | None:
    opened: int | None = None
    place = 0
    while place < len(sql):
        if sql[place] == "\\" and opened is not None:
            place += 1
        elif opened is None and sql[place] in _QUOTES:
            opened = place
        elif opened is not None and sql[place] == sql[opened]:
            opened = None
        place += 1
    return opened


def too_deep(sql: str) -> UnsupportedSqlError:
    """Return the error for a query that is nested beyond what can be walked."""
    return UnsupportedSqlError(
        "the query is nested too deeply",
        sql=sql,
        detail="Its expressions or subqueries have more levels than can be followed.",
        hint="Split it into several stream tables, or shorten long chains of OR, AND and UNION.",
    )
