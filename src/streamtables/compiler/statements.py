"""SQL statements about stream tables, read from tokens into frozen values.

The defining query is kept as the user wrote it: a slice of the text.  Views and functions have
their statements in `library_statements.py`.  Any other statement goes to Spark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot.tokenizer_core import TokenType

from streamtables.compiler.frontend.dialect import tokens_of
from streamtables.compiler.library_statements import LibraryStatement, parse_library_statement
from streamtables.compiler.statement_reader import Option, StatementReader


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
    | LibraryStatement
)


def parse_statement(text: str) -> Statement | None:
    """Return the statement, or None when it is none of ours."""
    reader = StatementReader(text, tokens_of(text))
    if not reader.is_ours():
        return parse_library_statement(reader)
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


def _create(reader: StatementReader) -> CreateStreamTable:
    replace = reader.took("OR", "REPLACE")
    reader.expect("STREAM", "TABLE")
    if_not_exists = reader.took("IF", "NOT", "EXISTS")
    name = reader.name()
    said, _ = reader.clauses()
    reader.expect("AS")
    query = reader.rest()
    return CreateStreamTable(
        name,
        query,
        replace,
        if_not_exists,
        schedule=said.schedule,
        mode=said.mode,
        full=said.full,
        tier=said.tier,
        options=said.options,
    )


def _alter(reader: StatementReader) -> AlterStreamTable:
    reader.expect("STREAM", "TABLE")
    name = reader.name()
    if reader.took("PAUSE"):
        return reader.ended(AlterStreamTable(name, pause=True))
    if reader.took("RESUME"):
        return reader.ended(AlterStreamTable(name, resume=True))
    if reader.took("AS"):
        return AlterStreamTable(name, query=reader.rest())
    if not reader.took("SET"):
        raise reader.error("SET, AS, PAUSE or RESUME was expected")
    said, count = reader.clauses()
    if not count:
        raise reader.error("SCHEDULE, MODE, FULL, TIER or OPTIONS was expected")
    changed = AlterStreamTable(
        name,
        schedule=said.schedule,
        mode=said.mode,
        full=said.full,
        tier=said.tier,
        options=said.options,
    )
    return reader.ended(changed)


def _drop(reader: StatementReader) -> DropStreamTable:
    reader.expect("STREAM", "TABLE")
    if_exists = reader.took("IF", "EXISTS")
    return reader.ended(DropStreamTable(reader.name(), if_exists, reader.took("CASCADE")))
