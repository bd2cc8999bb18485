"""A query as it was written, over other relations, with views and SQL functions put in as text.

A refused query runs in Spark as the user wrote it.  The text between its tables and calls stays,
character by character, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamtables.compiler.frontend.calls import own_calls, write_out
from streamtables.compiler.frontend.dialect import (
    VerbatimSpark,
    parse_query,
    span_of,
    tokens_of,
)
from streamtables.compiler.frontend.inlining import Inlining
from streamtables.compiler.frontend.scope import find_table, table_name
from streamtables.compiler.frontend.sql_functions import body_of
from streamtables.compiler.frontend.tables import references
from streamtables.compiler.frontend.unread_text import tables_named, without_end
from streamtables.compiler.library import NOTHING, Library, SqlFunction
from streamtables.compiler.schema import Schema, Table
from streamtables.errors import Span

_OPEN = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSE = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})

Naming = Callable[[str], exp.Table]


def over_relations(sql: str, naming: Naming, schema: Schema, library: Library = NOTHING) -> str:
    """Return a query over other relations for its tables, with everything else put in as text."""
    return _Text(sql, naming, schema, Inlining(library)).whole()


def unread_over_relations(sql: str, naming: Naming, schema: Schema, library: Library) -> str:
    """Return the same for a query that the parser cannot read: only its tables are replaced."""
    tables = tables_named(sql, schema, library)
    text = _Text(without_end(sql), naming, schema, Inlining(library), tables)
    # Inside another query no statement but a query can stand, whatever the words are.
    return f"SELECT * FROM (\n{text.whole()}\n)"


def with_other_names(sql: str, renamed: Callable[[str], str]) -> str:
    """Return a query in which everything that it reads has another name."""
    names = {table_name(table) for table in references(parse_query(sql))}
    schema = {name: Table(name, ()) for name in names}
    return over_relations(sql, lambda name: _relation_named(renamed(name)), schema)


def with_column_names(sql: str, names: Sequence[str]) -> str:
    """Return a query that shows its columns under these names."""
    shown = ", ".join(_sql(exp.to_identifier(name, quoted=True)) for name in names)
    # The text may end in a comment, which a line break closes.
    return f"SELECT * FROM (\n{sql}\n) AS named ({shown})"


def _relation_named(name: str) -> exp.Table:
    parts = [exp.to_identifier(part, quoted=True) for part in name.split(".")]
    return exp.Table(this=parts[-1], db=parts[0] if len(parts) > 1 else None)


def temporary_function(function: SqlFunction, library: Library) -> str:
    """Return the statement that makes a function in Spark, with those that it calls written out."""
    inlining = Inlining(library)
    body = _sql(body_of(function, inlining, lambda q, text: write_out(q, text, inlining)))
    parameters = ", ".join(
        f"{_sql(exp.to_identifier(name, quoted=True))} {type_}"
        for name, type_ in function.parameters
    )
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {function.name}({parameters}) "
        f"RETURNS {function.returns} RETURN {body}"
    )


@dataclass(frozen=True)
class _Edit:
    """A place of the text, and what stands there instead."""

    place: Span
    text: Callable[[], str]


class _Text:
    """One text and its edits; those inside an argument are made when the argument is."""

    def __init__(
        self,
        sql: str,
        naming: Naming,
        schema: Schema,
        inlining: Inlining,
        tables: Sequence[exp.Table] | None = None,
    ) -> None:
        self.sql = sql
        self.naming = naming
        self.schema = schema
        self.inlining = inlining
        self.tokens = tokens_of(sql)
        if tables is None:
            query = parse_query(sql)
            edits = [self._table_edit(table) for table in references(query)]
            calls = own_calls(query, inlining)
            edits += [self._call_edit(call) for call in calls if self._sql(call)]
        else:
            edits = [self._table_edit(table) for table in tables]
        self.edits = sorted(edits, key=lambda edit: (edit.place.start, -edit.place.end))

    def whole(self) -> str:
        return self._between(0, len(self.sql))

    def _between(self, start: int, end: int) -> str:
        pieces: list[str] = []
        done = start
        for edit in self.edits:
            if done <= edit.place.start and edit.place.end <= end:
                pieces += [self.sql[done : edit.place.start], edit.text()]
                done = edit.place.end
        return "".join([*pieces, self.sql[done:end]])

    def _table_edit(self, table: exp.Table) -> _Edit:
        place = span_of(exp.Tuple(expressions=[part.copy() for part in table.parts]))
        assert place is not None
        return _Edit(place, lambda: self._relation(table))

    def _relation(self, table: exp.Table) -> str:
        name = table_name(table)
        if (view := self.inlining.view(name)) is not None:
            inner = _Text(view.sql, self.naming, self.schema, self.inlining).whole()
            # The text may end in a comment, which a line break closes.
            relation = f"({inner}\n)"
        else:
            known = find_table(name, self.schema)
            assert known is not None
            relation = self.naming(known).sql(dialect=VerbatimSpark)
        # A sample stands before an alias, and so cannot have one put after the name.
        if table.alias or table.args.get("sample"):
            return relation
        return f"{relation} AS {_sql(exp.to_identifier(table.name, quoted=True))}"

    def _sql(self, call: exp.Anonymous) -> SqlFunction | None:
        found = self.inlining.library.function(call.name)
        return found if isinstance(found, SqlFunction) else None

    def _call_edit(self, call: exp.Anonymous) -> _Edit:
        function = self._sql(call)
        assert function is not None
        start = int(call.meta["start"])
        arguments, end = _arguments(self.tokens, start)
        return _Edit(Span(start, end), lambda: self._call(function, arguments))

    def _call(self, function: SqlFunction, arguments: list[Span]) -> str:
        inlining = self.inlining
        body = body_of(function, inlining, lambda q, text: write_out(q, text, inlining)).copy()
        values = {
            name.lower(): f"CAST({self._between(place.start, place.end)}\n AS {type_})"
            for (name, type_), place in zip(function.parameters, arguments, strict=True)
        }
        holder = exp.Paren(this=body)
        for column in list(holder.find_all(exp.Column)):
            column.replace(exp.Var(this=values[column.name.lower()]))
        return f"CAST({_sql(holder.this)} AS {function.returns})"


def _arguments(tokens: list[Token], start: int) -> tuple[list[Span], int]:
    """Return the places of a call's arguments, and where the call ends."""
    at = next(index for index, token in enumerate(tokens) if token.start == start) + 1
    first = tokens[at].end + 1
    depth, found = 0, []
    for token in tokens[at:]:
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if depth == 0:
            if token is not tokens[at + 1]:
                found.append(Span(first, token.start))
            return found, token.end + 1
        if depth == 1 and token.token_type == TokenType.COMMA:
            found.append(Span(first, token.start))
            first = token.end + 1
    raise AssertionError("a call without an end was parsed")


def _sql(expression: exp.Expr) -> str:
    return expression.sql(dialect=VerbatimSpark, normalize_functions=False)
