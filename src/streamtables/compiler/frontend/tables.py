"""Which tables a query reads, found from its text alone: a refused query has inputs too."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.inlining import Inlining, inside_of
from streamtables.compiler.frontend.scope import find_table, table_name
from streamtables.compiler.frontend.views import view_query
from streamtables.compiler.library import View
from streamtables.compiler.schema import Schema
from streamtables.errors import CycleError, UnknownNameError


def tables_in(
    query: exp.Query, sql: str, schema: Schema, inlining: Inlining | None = None
) -> tuple[str, ...]:
    """Return the registered names of all tables that a query reads, each once, in order.

    Views are looked through.
    """
    return known_tables(references(query), sql, schema, inlining or Inlining())


def known_tables(
    tables: Iterable[exp.Table], sql: str, schema: Schema, inlining: Inlining
) -> tuple[str, ...]:
    """Return the registered names of the tables that references of a text lead to."""
    search = _Search(schema, inlining)
    search.look(tables, sql)
    return tuple(search.found)


@dataclass
class _Search:
    """The tables met so far, and the views on the way to the place that is looked at."""

    schema: Schema
    inlining: Inlining
    found: dict[str, None] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    path: list[str] = field(default_factory=list)

    def look(self, tables: Iterable[exp.Table], sql: str) -> None:
        for table in tables:
            name = table_name(table)
            if (view := self.inlining.view(name)) is not None:
                self._look_through(view)
            elif (known := find_table(name, self.schema)) is not None:
                self.found[known] = None
            else:
                raise self._unknown(name, table, sql)

    def _look_through(self, view: View) -> None:
        key = view.name.lower()
        if key in self.path:
            path = " → ".join([*self.path[self.path.index(key) :], key])
            raise CycleError(f'the view "{view.name}" would read itself', detail=f"{path}.")
        if key in self.done:
            return
        self.path.append(key)
        with inside_of(view, view.sql):
            self.look(references(view_query(view, self.inlining)), view.sql)
        self.path.pop()
        self.done.add(key)

    def _unknown(self, name: str, table: exp.Table, sql: str) -> UnknownNameError:
        known = [*self.schema, *(view.name for view in self.inlining.library.views.values())]
        close = difflib.get_close_matches(name, known, n=1)
        return UnknownNameError(
            f'no source or stream table "{name}"',
            sql=sql,
            span=span_of(table.this),
            hint=f'Did you mean "{close[0]}"?' if close else "Add it first, with add_source.",
        )


def referenced_names(query: exp.Query) -> tuple[str, ...]:
    """Return the names of all tables and views that a query refers to, as they are written."""
    return tuple(dict.fromkeys(table_name(table) for table in references(query)))


def called_names(query: exp.Query) -> tuple[str, ...]:
    """Return the names of all functions that a query calls, as they are written."""
    return tuple(dict.fromkeys(call.name for call in query.find_all(exp.Anonymous)))


def references(query: exp.Query) -> Iterator[exp.Table]:
    """Yield the references that mean a table or view, and no named query."""
    return _references(query, frozenset())


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
