"""Which tables a query reads, found from its text alone: a refused query has inputs too."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator

from sqlglot import exp

from streamtables.compiler.frontend.dialect import VerbatimSpark, parse_query, span_of
from streamtables.compiler.frontend.scope import find_table, table_name
from streamtables.compiler.schema import Schema
from streamtables.errors import UnknownNameError


def tables_in(query: exp.Query, sql: str, schema: Schema) -> tuple[str, ...]:
    """Return the registered names of all tables that a query reads, each once, in order."""
    found: dict[str, None] = {}
    for table in _references(query, frozenset()):
        name = table_name(table)
        known = find_table(name, schema)
        if known is None:
            close = difflib.get_close_matches(name, list(schema), n=1)
            raise UnknownNameError(
                f'no source or stream table "{name}"',
                sql=sql,
                span=span_of(table.this),
                hint=f'Did you mean "{close[0]}"?' if close else "Add it with add_source first.",
            )
        found[known] = None
    return tuple(found)


def referenced_names(query: exp.Query) -> tuple[str, ...]:
    """Return the names of all tables that a query refers to, as they are written."""
    return tuple(dict.fromkeys(table_name(table) for table in _references(query, frozenset())))


def over_relations(sql: str, naming: Callable[[str], exp.Table], schema: Schema) -> str:
    """Return a query as it was written, over other relations for its tables.

    The text between the tables stays, character by character, whatever it is.
    """
    pieces: list[str] = []
    done = 0
    for table in sorted(_references(parse_query(sql), frozenset()), key=_start):
        known = find_table(table_name(table), schema)
        assert known is not None
        place = span_of(exp.Tuple(expressions=[part.copy() for part in table.parts]))
        assert place is not None
        pieces += [sql[done : place.start], naming(known).sql(dialect=VerbatimSpark)]
        # A sample stands before an alias, and so cannot have one put after the name.
        if not table.alias and not table.args.get("sample"):
            pieces.append(f" AS {exp.to_identifier(table.name, quoted=True).sql(VerbatimSpark)}")
        done = place.end
    return "".join([*pieces, sql[done:]])


def _start(table: exp.Table) -> int:
    place = span_of(table.this)
    return place.start if place is not None else 0


def _names_a_table(table: exp.Table, named: frozenset[str]) -> bool:
    return isinstance(table.this, exp.Identifier) and table_name(table).lower() not in named


def _references(node: exp.Expr, named: frozenset[str]) -> Iterator[exp.Table]:
    """Yield the references that mean a table; `named` are the named queries in reach."""
    if isinstance(node, exp.Table) and _names_a_table(node, named):
        yield node
    if with_ := node.args.get("with_"):
        for item in with_.expressions:
            # A named query sees those before it, and itself only when it is recursive.
            itself = {item.alias.lower()} if with_.args.get("recursive") else set()
            yield from _references(item.this, named | itself)
            named |= {item.alias.lower()}
    for child in node.iter_expressions():
        if child is not with_:
            yield from _references(child, named)
