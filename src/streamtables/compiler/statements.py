"""SQL statements about stream tables, read from tokens into frozen values.

The defining query is kept as the user wrote it: a slice of the text.  What is no statement about
stream tables is none of ours, and goes to Spark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.dialect import tokens_of
from streamtables.errors import Span, SqlSyntaxError

Option: TypeAlias = str | int | float | bool
S = TypeVar("S")


@dataclass(frozen=True)
class CreateStreamTable:
    """CREATE [OR REPLACE] STREAM TABLE [IF NOT EXISTS] name … AS query."""

    name: str
    query: str
    replace: bool = False
    if_not_exists: bool = False
    schedule: str | None = None
    mode: str | None = None
    full: str | None = None
    tier: str | None = None
    options: dict[str, Option] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class AlterStreamTable:
    """ALTER STREAM TABLE name SET … | AS query | PAUSE | RESUME."""

    name: str
    query: str | None = None
    pause: bool = False
    resume: bool = False
    schedule: str | None = None
    mode: str | None = None
    full: str | None = None
    tier: str | None = None
    options: dict[str, Option] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class DropStreamTable:
    """DROP STREAM TABLE [IF EXISTS] name [CASCADE]."""

    name: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class RefreshStreamTable:
    """REFRESH STREAM TABLE name [FULL]."""

    name: str
    full: bool = False


@dataclass(frozen=True)
class ExplainStreamTable:
    """EXPLAIN STREAM TABLE name."""

    name: str


@dataclass(frozen=True)
class ShowStreamTables:
    """SHOW STREAM TABLES."""


Statement: TypeAlias = (
    CreateStreamTable
    | AlterStreamTable
    | DropStreamTable
    | RefreshStreamTable
    | ExplainStreamTable
    | ShowStreamTables
)


def parse_statement(text: str) -> Statement | None:
    """Return the statement, or None when it is not about stream tables."""
    reader = _Reader(text, [token for token in tokens_of(text)])
    reader.drop_trailing_semicolon()
    if not reader.is_ours():
        return None
    match reader.word():
        case "CREATE":
            return _create(reader)
        case "ALTER":
            return _alter(reader)
        case "DROP":
            return _drop(reader)
        case "REFRESH":
            reader.expect("STREAM", "TABLE")
            return reader.ended(RefreshStreamTable(reader.name(), reader.took("FULL")))
        case "EXPLAIN":
            reader.expect("STREAM", "TABLE")
            return reader.ended(ExplainStreamTable(reader.name()))
        case _:
            reader.expect("STREAM", "TABLES")
            return reader.ended(ShowStreamTables())


def split_statements(text: str) -> list[str]:
    """Split a script at the semicolons between its statements."""
    starts, pieces = 0, []
    for token in tokens_of(text):
        if token.token_type == TokenType.SEMICOLON:
            pieces.append(text[starts : token.start])
            starts = token.end + 1
    pieces.append(text[starts:])
    return [piece for piece in pieces if tokens_of(piece)]


def _create(reader: _Reader) -> CreateStreamTable:
    replace = reader.took("OR", "REPLACE")
    reader.expect("STREAM", "TABLE")
    if_not_exists = reader.took("IF", "NOT", "EXISTS")
    name = reader.name()
    clauses = reader.clauses()
    reader.expect("AS")
    return CreateStreamTable(name, reader.rest(), replace, if_not_exists, **clauses)  # type: ignore[arg-type]


def _alter(reader: _Reader) -> AlterStreamTable:
    reader.expect("STREAM", "TABLE")
    name = reader.name()
    if reader.took("PAUSE"):
        return reader.ended(AlterStreamTable(name, pause=True))
    if reader.took("RESUME"):
        return reader.ended(AlterStreamTable(name, resume=True))
    if reader.took("AS"):
        return AlterStreamTable(name, query=reader.rest())
    reader.expect("SET")
    clauses = reader.clauses()
    if not clauses:
        raise reader.error("SCHEDULE, MODE, FULL, TIER or OPTIONS was expected")
    return reader.ended(AlterStreamTable(name, **clauses))  # type: ignore[arg-type]


def _drop(reader: _Reader) -> DropStreamTable:
    reader.expect("STREAM", "TABLE")
    if_exists = reader.took("IF", "EXISTS")
    return reader.ended(DropStreamTable(reader.name(), if_exists, reader.took("CASCADE")))


class _Reader:
    """A place in a list of tokens."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0

    def is_ours(self) -> bool:
        words = [token.text.upper() for token in self.tokens[:5]]
        head = words[1:3] if words[1:3] != ["OR", "REPLACE"] else words[3:5]
        return len(head) == 2 and head[0] == "STREAM" and head[1] in ("TABLE", "TABLES")

    def drop_trailing_semicolon(self) -> None:
        while self.tokens and self.tokens[-1].token_type == TokenType.SEMICOLON:
            self.tokens.pop()

    def word(self) -> str:
        """Take the next token, whatever it is."""
        if self.at >= len(self.tokens):
            raise self.error("the statement ends too early")
        self.at += 1
        return self.tokens[self.at - 1].text.upper()

    def took(self, *words: str) -> bool:
        """Take these words if they come next."""
        ahead = [token.text.upper() for token in self.tokens[self.at : self.at + len(words)]]
        if ahead != list(words):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Take these words, or fail at this place."""
        if not self.took(*words):
            raise self.error(f"{' '.join(words)} was expected")

    def name(self) -> str:
        """Take a name of one or more parts."""
        parts = [self._identifier()]
        while self.took("."):
            parts.append(self._identifier())
        return ".".join(parts)

    def clauses(self) -> dict[str, object]:
        """Take SCHEDULE, MODE, FULL, TIER and OPTIONS, in any order, each once."""
        found: dict[str, object] = {}
        while True:
            for word in ("SCHEDULE", "MODE", "FULL", "TIER", "OPTIONS"):
                if self.took(word):
                    if word.lower() in found:
                        self.at -= 1
                        raise self.error(f"{word} is given twice")
                    self.took("=")
                    found[word.lower()] = (
                        self._options() if word == "OPTIONS" else self._value().lower()
                    )
                    self.took(",")
                    break
            else:
                return found

    def rest(self) -> str:
        """Take everything that is left, as it was written."""
        if self.at >= len(self.tokens):
            raise self.error("the query is missing")
        text = self.text[self.tokens[self.at].start : self.tokens[-1].end + 1]
        self.at = len(self.tokens)
        return text

    def ended(self, statement: S) -> S:
        """Return the statement if nothing is left."""
        if self.at < len(self.tokens):
            raise self.error("the statement should end here")
        return statement

    def error(self, message: str) -> SqlSyntaxError:
        """Return an error that points at the next token."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        end = len(self.text.rstrip())
        span = Span(token.start, token.end + 1) if token else Span(max(0, end - 1), end)
        near = f' near "{token.text}"' if token else ""
        return SqlSyntaxError(f"syntax error{near}: {message}", sql=self.text, span=span)

    def _identifier(self) -> str:
        if self.at >= len(self.tokens):
            raise self.error("a name was expected")
        token = self.tokens[self.at]
        if token.token_type == TokenType.STRING or not token.text.replace("_", "a").isalnum():
            raise self.error("a name was expected")
        self.at += 1
        return token.text

    def _value(self) -> str:
        if self.at >= len(self.tokens):
            raise self.error("a value was expected")
        self.at += 1
        return self.tokens[self.at - 1].text

    def _options(self) -> dict[str, Option]:
        self.expect("(")
        found: dict[str, Option] = {}
        while not self.took(")"):
            key = self._identifier()
            self.expect("=")
            token = self.tokens[self.at] if self.at < len(self.tokens) else None
            text = self._value()
            if token is not None and token.token_type == TokenType.NUMBER:
                found[key] = float(text) if "." in text else int(text)
            elif text.upper() in ("TRUE", "FALSE"):
                found[key] = text.upper() == "TRUE"
            else:
                found[key] = text
            if not self.took(",") and not self.took(")"):
                raise self.error(", or ) was expected")
            if self.tokens[self.at - 1].text == ")":
                break
        return found
