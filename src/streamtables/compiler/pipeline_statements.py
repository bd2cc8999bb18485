"""Statements of Spark Declarative Pipelines, read from tokens into frozen values.

The forms are those that Spark 4.2 parses:

    CREATE MATERIALIZED VIEW | STREAMING TABLE [IF NOT EXISTS] name [(column type, …)]
      [USING format] [PARTITIONED BY (…)] [CLUSTER BY (…)] [COMMENT '…'] [TBLPROPERTIES (…)]
      [AS query]
    CREATE FLOW name [COMMENT '…'] AS INSERT INTO target BY NAME query
    CREATE [TEMPORARY] VIEW name [(column, …)] [COMMENT '…'] [TBLPROPERTIES (…)] AS query
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.dialect import tokens_of
from streamtables.compiler.statement_reader import StatementReader

Kind = Literal["materialized view", "streaming table", "view"]

# Clauses that say how something is stored there, with a list in brackets each.
# Some of them are one token of the parser, blank included.
_STORED = ("PARTITIONED BY", "CLUSTER BY", "CLUSTERED BY", "TBLPROPERTIES", "OPTIONS")
_BEFORE_A_TABLE = ("FROM", "JOIN", ",", "(")
# After these words STREAM is the name of a table.
_AFTER_A_TABLE = frozenset({
    "AS", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "LIMIT", "OFFSET", "UNION", "EXCEPT",
    "INTERSECT", "MINUS", "WINDOW", "LATERAL", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS",
    "NATURAL", "SEMI", "ANTI", "ON", "USING", "PIVOT", "UNPIVOT", "TABLESAMPLE",
})  # fmt: skip


@dataclass(frozen=True)
class PipelineDataset:
    """A materialized view, a streaming table or a view, with its query where it has one."""

    kind: Kind
    name: str
    query: str | None
    comment: str = ""
    dropped: tuple[str, ...] = ()
    """Clauses that mean nothing for a stream table."""


@dataclass(frozen=True)
class PipelineFlow:
    """Rows that a query appends to a streaming table."""

    name: str
    target: str
    query: str


@dataclass(frozen=True)
class PipelineSetting:
    """SET or USE: what holds for the statements after it."""

    text: str


PipelineStatement: TypeAlias = PipelineDataset | PipelineFlow | PipelineSetting


def parse_pipeline_statement(text: str) -> PipelineStatement:
    """Return a statement of a pipeline; another one is an error."""
    reader = StatementReader(text, tokens_of(text))
    if reader.took("SET") or reader.took("USE"):
        return PipelineSetting(" ".join(text.split()))
    reader.expect("CREATE")
    if reader.took("MATERIALIZED", "VIEW"):
        return _dataset(reader, "materialized view")
    if reader.took("STREAMING", "TABLE"):
        return _dataset(reader, "streaming table")
    if reader.took("FLOW"):
        return _flow(reader)
    if any(reader.took(word, "VIEW") for word in ("TEMPORARY", "TEMP")) or reader.took("VIEW"):
        return _dataset(reader, "view")
    raise reader.error("MATERIALIZED VIEW, STREAMING TABLE, FLOW or VIEW was expected")


def _dataset(reader: StatementReader, kind: Kind) -> PipelineDataset:
    reader.took("IF", "NOT", "EXISTS")
    name = reader.name()
    comment, dropped = "", []
    if _took_brackets(reader):
        if kind == "view":
            raise reader.error("columns of a view cannot be taken over; name them in its query")
        dropped.append("the list of columns")
    while not reader.took("AS"):
        if reader.at >= len(reader.tokens) and kind == "streaming table":
            return PipelineDataset(kind, name, None, comment, tuple(dropped))
        if reader.took("COMMENT"):
            comment = _text(reader)
        elif reader.took("USING"):
            dropped.append(f"USING {reader.part()}")
        else:
            dropped.append(_stored(reader))
    return PipelineDataset(kind, name, reader.rest(), comment, tuple(dropped))


def _flow(reader: StatementReader) -> PipelineFlow:
    name = reader.name()
    if reader.took("COMMENT"):
        _text(reader)
    reader.expect("AS")
    reader.expect("INSERT", "INTO")
    target = reader.name()
    # Spark takes no other flow: without BY NAME, with a list of columns, or OVERWRITE.
    reader.expect("BY", "NAME")
    return PipelineFlow(name, target, reader.rest())


def _text(reader: StatementReader) -> str:
    token = reader.tokens[reader.at] if reader.at < len(reader.tokens) else None
    if token is None or token.token_type != TokenType.STRING:
        raise reader.error("a text in quotes was expected")
    reader.at += 1
    return token.text


def _stored(reader: StatementReader) -> str:
    for words in _STORED:
        if reader.took(words) or reader.took(*words.split()):
            if not _took_brackets(reader):
                raise reader.error("( was expected")
            return words
    raise reader.error("AS was expected")


def _took_brackets(reader: StatementReader) -> bool:
    """Take a list in brackets, whatever it holds."""
    if not reader.took("("):
        return False
    depth = 1
    while depth:
        if reader.at >= len(reader.tokens):
            raise reader.error(") was expected")
        kind = reader.tokens[reader.at].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        reader.at += 1
    return True


def without_stream(query: str) -> tuple[str, int]:
    """Return a query that reads tables where it read them as streams, and how many it did.

    >>> without_stream("SELECT a FROM STREAM(t) WHERE a > 1")
    ('SELECT a FROM t WHERE a > 1', 1)
    """
    tokens = tokens_of(query)
    cuts: list[tuple[int, int]] = []
    count = 0
    for place, token in enumerate(tokens):
        if token.text.upper() != "STREAM" or not _follows_from(tokens, place):
            continue
        count += 1
        opening = tokens[place + 1]
        cuts.append((token.start, opening.start))
        if opening.token_type == TokenType.L_PAREN:
            closing = next(t for t in tokens[place + 1 :] if t.token_type == TokenType.R_PAREN)
            cuts += [(opening.start, opening.end + 1), (closing.start, closing.end + 1)]
    return _cut(query, cuts), count


def _follows_from(tokens: list[Token], place: int) -> bool:
    """Whether a word STREAM says how the table after it is read, and is no name itself."""
    before = tokens[place - 1].text.upper() if place else ""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if before not in _BEFORE_A_TABLE or after is None:
        return False
    if after.token_type == TokenType.L_PAREN:
        return any(t.token_type == TokenType.R_PAREN for t in tokens[place + 1 :])
    word = after.text.replace("_", "a")
    return word.isalnum() and after.text.upper().split()[0] not in _AFTER_A_TABLE


def with_short_names(
    query: str, prefixes: Collection[tuple[str, ...]], known: Collection[str]
) -> str:
    """Return a query in which what the pipeline defines has no catalog or schema before its name.

    >>> with_short_names("SELECT s.a.x FROM s.a JOIN s.b", [("s",)], ["a"])
    'SELECT a.x FROM a JOIN s.b'
    """
    tokens = tokens_of(query)
    cuts: list[tuple[int, int]] = []
    place = 0
    while place < len(tokens):
        chain = _chain(tokens, place)
        names = tuple(token.text.lower() for token in chain)
        for prefix in sorted(prefixes, key=len, reverse=True):
            after = len(prefix)
            if names[:after] == prefix and len(names) > after and names[after] in known:
                cuts.append((chain[0].start, chain[after].start))
                break
        place += max(1, 2 * len(chain) - 1)
    return _cut(query, cuts)


def _chain(tokens: list[Token], place: int) -> list[Token]:
    """Return the words of a name with dots that starts at a place."""
    found = [tokens[place]]
    while place + 2 < len(tokens) and tokens[place + 1].token_type == TokenType.DOT:
        place += 2
        found.append(tokens[place])
    return found


def _cut(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text
