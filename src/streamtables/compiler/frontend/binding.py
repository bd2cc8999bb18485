"""What binding a query carries along: its text, the tables, the names given so far.

Binding turns names into columns of the algebra.  Whatever has no rule is raised as a refusal of the
place where it stands; `compile_query` decides what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtables.compiler.algebra import Node, Project, Projection
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.inlining import Inlining
from streamtables.compiler.frontend.scope import Namer, Relation, Scope, Visible
from streamtables.compiler.frontend.sessions_made import MadeSession
from streamtables.compiler.schema import Schema
from streamtables.compiler.types import SqlType
from streamtables.errors import (
    NotIncrementalError,
    Span,
    UnimplementedSqlError,
    UnsupportedSqlError,
)


@dataclass(frozen=True)
class Bound:
    """A bound query: its plan, and its columns under the names that the query gives them."""

    node: Node
    columns: tuple[Visible, ...]


@dataclass
class Notes:
    """Remarks for the user that are neither errors nor refusals."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Keep a remark once."""
        if line not in self.lines:
            self.lines.append(line)


BindQuery = Callable[[exp.Query, "Binding"], Bound]


@dataclass(frozen=True)
class Binding:
    """The surroundings in which a part of a query is bound."""

    sql: str
    schema: Schema
    namer: Namer
    notes: Notes
    bind_query: BindQuery
    """Binds a query that stands inside another one."""
    named_queries: Mapping[str, Bound] = field(default_factory=dict)
    enclosing: tuple[Scope, ...] = ()
    """The scopes of the queries round this one, from the inside out."""
    inlining: Inlining = field(default_factory=Inlining)
    """The views and functions that may be used."""
    outermost: exp.Query | None = None
    """The query whose rows are stored; all others stand inside it."""
    sessions: dict[str, MadeSession] = field(default_factory=dict)
    """The session windows made so far, by their column."""

    def inside(self, scope: Scope) -> Binding:
        """Return the surroundings of a subquery in an expression over a scope."""
        return replace(self, enclosing=(scope, *self.enclosing))

    @property
    def enclosing_types(self) -> dict[str, SqlType]:
        """The columns of the enclosing queries, and their types."""
        return {
            item.inner: item.type
            for scope in self.enclosing
            for relation in scope.relations
            for item in (*relation.columns, *scope.visible)
        }

    def types_of(self, *nodes: Node) -> dict[str, SqlType]:
        """Return the types of all columns that an expression over these relations may read."""
        own = {item.name: item.type for node in nodes for item in node.columns}
        return {**self.enclosing_types, **own}

    def with_named_query(self, name: str, bound: Bound) -> Binding:
        """Return these surroundings with one more CTE in reach."""
        return replace(self, named_queries={**self.named_queries, name.lower(): bound})

    def place_of(self, node: exp.Expr | None, word: str = "") -> Span | None:
        """Return the place of a part; a part without one is looked up by its word."""
        found = span_of(node)
        start = self.sql.lower().find(word.lower()) if found is None and word else -1
        return found if start < 0 else Span(start, start + len(word))

    def unimplemented(
        self, what: str, node: exp.Expr | None, word: str = ""
    ) -> UnimplementedSqlError:
        """Return the refusal of something that could be maintained, but has no rule yet."""
        return UnimplementedSqlError(
            f"{what} is not maintained incrementally by this version",
            sql=self.sql,
            span=self.place_of(node, word),
            detail=f"This version has no delta rule for {what}.",
            hint="Use mode 'auto' or 'full': the table is then kept by full refreshes.",
        )

    def not_incremental(
        self, reason: str, node: exp.Expr | None, word: str = ""
    ) -> NotIncrementalError:
        """Return the refusal of something that has no incremental form by its nature."""
        return NotIncrementalError(
            "the query cannot be maintained incrementally",
            sql=self.sql,
            span=self.place_of(node, word),
            detail=reason,
            hint="Use mode 'full', or take this part out of the query.",
        )

    def unsupported(self, what: str, node: exp.Expr | None, word: str = "") -> UnsupportedSqlError:
        """Return the error for something that a stream table cannot be defined by at all."""
        return UnsupportedSqlError(
            f"{what} cannot be part of a stream table's query",
            sql=self.sql,
            span=self.place_of(node, word),
            hint="Take this part out of the query.",
        )


def column(name: str) -> exp.Column:
    """Return a reference to a column of the algebra."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def renamed(bound: Bound, alias: tuple[str, ...], binding: Binding) -> tuple[Node, Relation]:
    """Give one use of a bound query its own column names, so that it can be used twice."""
    fresh = [(item, binding.namer.fresh(item.shown)) for item in bound.columns]
    projections = tuple(Projection(name, column(item.inner), item.type) for item, name in fresh)
    shown = tuple(Visible(item.shown, name, item.type) for item, name in fresh)
    return Project(bound.node, projections), Relation(alias, shown)
