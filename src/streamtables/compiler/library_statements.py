"""CREATE and DROP of views and of SQL functions, read from tokens into frozen values.

Temporary views and functions, and functions of a Java class, are Spark's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from streamtables.compiler.frontend.inlined_text import with_column_names
from streamtables.compiler.statement_reader import StatementReader


@dataclass(frozen=True)
class CreateView:
    """CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(column, …)] AS query."""

    name: str
    query: str
    columns: tuple[str, ...] = ()
    replace: bool = False
    if_not_exists: bool = False

    @property
    def text(self) -> str:
        """The query, showing its columns under the names that the statement gives them."""
        query = self.query.strip()
        return with_column_names(query, self.columns) if self.columns else query


@dataclass(frozen=True)
class CreateFunction:
    """CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name(parameter type, …) RETURNS … RETURN …."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    body: str
    replace: bool = False
    if_not_exists: bool = False

    @property
    def parameter_types(self) -> dict[str, str]:
        """The types of the parameters, by name."""
        return dict(self.parameters)


@dataclass(frozen=True)
class DropView:
    """DROP VIEW [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class DropFunction:
    """DROP FUNCTION [IF EXISTS] name."""

    name: str
    if_exists: bool = False


LibraryStatement: TypeAlias = CreateView | CreateFunction | DropView | DropFunction

# What Spark lets a function say of itself, and what holds for every function here.
_CHARACTERISTICS = (("LANGUAGE", "SQL"), ("DETERMINISTIC",), ("CONTAINS", "SQL"))


def parse_library_statement(reader: StatementReader) -> LibraryStatement | None:
    """Return the statement; None, with nothing taken, when it is another one."""
    start = reader.at
    found = _parsed(reader)
    if found is None:
        reader.at = start
    return found


def _parsed(reader: StatementReader) -> LibraryStatement | None:
    if reader.took("DROP", "VIEW"):
        if_exists = reader.took("IF", "EXISTS")
        return reader.ended(DropView(reader.name(), if_exists))
    if reader.took("DROP", "FUNCTION"):
        if_exists = reader.took("IF", "EXISTS")
        return reader.ended(DropFunction(reader.name(), if_exists))
    if not reader.took("CREATE"):
        return None
    replace = reader.took("OR", "REPLACE")
    if reader.took("VIEW"):
        return _create_view(reader, replace=replace)
    if reader.took("FUNCTION"):
        return _create_function(reader, replace=replace)
    return None


def _create_view(reader: StatementReader, *, replace: bool) -> CreateView:
    if_not_exists = reader.took("IF", "NOT", "EXISTS")
    name = reader.name()
    columns: list[str] = []
    if reader.took("("):
        columns.append(reader.part())
        while not reader.took(")"):
            reader.expect(",")
            columns.append(reader.part())
    if reader.took("COMMENT"):
        reader.word()
    reader.expect("AS")
    return CreateView(name, reader.rest(), tuple(columns), replace, if_not_exists)


def _create_function(reader: StatementReader, *, replace: bool) -> CreateFunction | None:
    if_not_exists = reader.took("IF", "NOT", "EXISTS")
    name = reader.name()
    if not reader.took("("):
        # CREATE FUNCTION name AS 'class' is of Java, and Spark's.
        return None
    parameters: list[tuple[str, str]] = []
    while not reader.took(")"):
        if parameters:
            reader.expect(",")
        name_of = reader.part()
        if any(known.lower() == name_of.lower() for known, _ in parameters):
            raise reader.error(f'the parameter "{name_of}" is given twice')
        parameters.append((name_of, reader.type_text()))
    reader.expect("RETURNS")
    if reader.took("TABLE"):
        raise reader.error("a function returns one value, not a table")
    returns = reader.type_text("RETURN", "COMMENT", *(words[0] for words in _CHARACTERISTICS))
    while any(reader.took(*words) for words in _CHARACTERISTICS):
        pass
    if reader.took("COMMENT"):
        reader.word()
    reader.expect("RETURN")
    return CreateFunction(name, tuple(parameters), returns, reader.rest(), replace, if_not_exists)
