"""The compiled form of a defining query: what it means, and how it is kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from streamtables.compiler.algebra import (
    Clock,
    Net,
    Node,
    Project,
    Projection,
    Scan,
    at,
)
from streamtables.compiler.algebra.node import changes_of
from streamtables.compiler.backend.statement import (
    Dialect,
    Program,
    by_schema,
    by_view,
    program,
    statement,
    to_sql,
)
from streamtables.compiler.frontend.binding import Bound, Notes, column
from streamtables.compiler.frontend.calls import parsed
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.inlined_text import over_relations, unread_over_relations
from streamtables.compiler.frontend.inlining import Inlining
from streamtables.compiler.frontend.padded_text import refuse_padded
from streamtables.compiler.frontend.query import bind
from streamtables.compiler.frontend.storable import require_storable
from streamtables.compiler.frontend.syntax_errors import too_deep
from streamtables.compiler.frontend.tables import known_tables, tables_in
from streamtables.compiler.frontend.unread_text import tables_named
from streamtables.compiler.library import NOTHING, Entry, Library, PythonFunction, View
from streamtables.compiler.maintenance import Maintenance
from streamtables.compiler.maintenance.exactness import inexact_below
from streamtables.compiler.maintenance.groups_apart import (
    GroupsApart,
    groups_apart,
    read_apart,
)
from streamtables.compiler.maintenance.root_chain import root_chain
from streamtables.compiler.rewrites.approximate_root_sums import approximate_root_sums
from streamtables.compiler.rewrites.carry_key import carry_key
from streamtables.compiler.rewrites.carry_order import carry_order
from streamtables.compiler.rewrites.filter_before_net import filter_before_net
from streamtables.compiler.rewrites.group_by_window_start import group_by_window_start
from streamtables.compiler.rewrites.merge_projects import merge_projects
from streamtables.compiler.rewrites.prune_columns import prune_columns
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.rewrites.sort_float_sums import sort_float_sums
from streamtables.compiler.rewrites.weigh_single_rows import weigh_single_rows
from streamtables.compiler.schema import Schema, build_schema
from streamtables.compiler.types import SqlType
from streamtables.errors import (
    ConfigError,
    NotIncrementalError,
    Span,
    SqlError,
    SqlSyntaxError,
    UnimplementedSqlError,
)


@dataclass(frozen=True)
class Refusal:
    """Why (a part of) a query cannot be maintained incrementally, and where it stands."""

    code: str
    reason: str
    span: Span | None
    message: str
    hint: str
    sql: str

    @classmethod
    def of(cls, error: SqlError) -> Refusal:
        """Turn the error of a part into a value."""
        return cls(
            error.code,
            error.detail or error.message,
            error.span,
            error.message,
            error.hint,
            error.sql,
        )

    @property
    def place(self) -> str:
        """The line of the query with a caret under the place."""
        return self.span.caret(self.sql) if self.span else ""

    def as_error(self) -> SqlError:
        """Return the error that mode `differential` raises for this refusal."""
        kind = (
            NotIncrementalError if self.code == NotIncrementalError.code else UnimplementedSqlError
        )
        return kind(self.message, sql=self.sql, span=self.span, detail=self.reason, hint=self.hint)


@dataclass(frozen=True, eq=False)
class Plan:
    """A compiled query.  `root` is missing when the query has a refusal."""

    sql: str
    tables: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]
    root: Node | None
    schema: Schema = field(default_factory=dict)
    library: Library = NOTHING
    used: tuple[Entry, ...] = ()
    """The views and functions that the query reaches, directly or through others."""
    unread: bool = False
    """Whether Spark alone can read the text; only its tables are known."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Tables that keep groups below other operators: the query of each, and its name."""

    @property
    def incremental(self) -> bool:
        """Whether changes alone can keep the result."""
        return self.root is not None and not self.refusals

    @cached_property
    def output(self) -> tuple[tuple[str, SqlType], ...]:
        """Names and types of the visible columns; empty where only Spark can tell."""
        if self.root is None:
            return ()
        return tuple((item.name, item.type) for item in self.visible.columns)

    @cached_property
    def key(self) -> list[str] | None:
        """The columns, hidden ones included, that tell the rows apart; None for a bag."""
        found = self.definition.key if self.root is not None else None
        return None if found is None else list(found)

    @cached_property
    def definition(self) -> Node:
        """The query as a plan that reads only what it needs, hidden key columns included."""
        assert self.root is not None
        return merge_projects(prune_columns(merge_projects(self.root)))

    @cached_property
    def visible(self) -> Node:
        """The same without the hidden columns."""
        assert self.root is not None
        shown = [item for item in self.root.columns if not item.name.startswith("__st_")]
        cut = Project(self.root, tuple(Projection(c.name, column(c.name), c.type) for c in shown))
        return merge_projects(prune_columns(merge_projects(cut)))

    def query_program(self) -> Program:
        """Return the program that computes the visible rows from the tables after a change."""
        if self.root is not None:
            return program(at("after", self.visible))
        return Program((), self._text(lambda table: by_view(table, "after")))

    @cached_property
    def inexact(self) -> bool:
        """Whether the result may hold sums of floats, whose last digits depend on row order."""
        return self.root is None or inexact_below(self.root, None) is not None

    def query_sql(self, dialect: Dialect = "spark") -> str:
        """Return the defining query made deterministic: what full, verify and delta all mean."""
        if self.root is None:
            written = not self.used and not self.unread
            return self.sql if written else self._text(lambda table: by_schema(table, "now"))
        return to_sql(statement(self.visible), dialect)

    def _text(self, naming: Callable[[str], exp.Table]) -> str:
        """Return the query as it was written, over other relations."""
        if self.unread:
            return unread_over_relations(self.sql, naming, self.schema, self.library)
        return over_relations(self.sql, naming, self.schema, self.library)

    def delta_sql(self, dialect: Dialect = "spark") -> str:
        """Return one SELECT for the signed changes of the visible rows."""
        self.require_incremental()
        return to_sql(statement(self.delta), dialect)

    @cached_property
    def delta(self) -> Node:
        """The changes of the visible rows, from `before`, `after` and `changes` of each table."""
        changes = changes_of(self.visible)
        netted = changes if isinstance(changes, Net) else Net(changes)
        return weigh_single_rows(filter_before_net(netted))

    @property
    def names(self) -> frozenset[str]:
        """The names of all tables whose changes may be followed."""
        return frozenset((*self.tables, *self.apart.values()))

    @cached_property
    def followed(self) -> Node:
        """The definition as changes are followed over it: groups that are stored apart are read."""
        return read_apart(self.definition, self.apart)

    @cached_property
    def maintenance(self) -> Maintenance:
        """How the stored table is kept."""
        return Maintenance.of(self.followed)

    @cached_property
    def groups(self) -> Mapping[str, GroupsApart]:
        """The groups that are stored apart, by the names of their tables."""
        found = groups_apart(self.definition) if self.apart else ()
        return {self.apart[item.sql]: item for item in found if item.sql in self.apart}

    @cached_property
    def filling(self) -> Maintenance:
        """How all of it is computed, from the sources alone."""
        return self.maintenance if not self.apart else Maintenance.of(self.definition)

    @cached_property
    def columns_read(self) -> Mapping[str, tuple[str, ...]]:
        """For each table the columns that the plan reads."""
        read: dict[str, dict[str, None]] = {}
        for node in in_order(self.definition) if self.root is not None else ():
            if isinstance(node, Scan):
                read.setdefault(node.table, {}).update(dict.fromkeys(f.source for f in node.fields))
        return {table: tuple(names) for table, names in read.items()}

    @property
    def python_functions(self) -> tuple[str, ...]:
        """The functions that a process must bring along to run the query."""
        return tuple(entry.name for entry in self.used if isinstance(entry, PythonFunction))

    @cached_property
    def reads_clock(self) -> bool:
        """Whether the result depends on the moment of the refresh."""
        nodes = in_order(self.definition) if self.root is not None else []
        return any(isinstance(node, Clock) for node in nodes)

    def require_incremental(self) -> None:
        """Raise the first refusal when there is one."""
        if self.refusals:
            raise self.refusals[0].as_error()

    def explain(self) -> str:
        """Return the plan, the kind of each operator, refusals and the delta SQL as text."""
        from streamtables.compiler.explain import explain_text

        return explain_text(self)


def compile_query(
    sql: str, schema: Schema, library: Library = NOTHING, *, approximate_floats: bool = False
) -> Plan:
    """Compile a defining query against the tables it may read, and views and functions.

    With `approximate_floats` sums of floats may be kept by adding to them, within a bound.
    """
    try:
        return _compiled(sql, schema, library, approximate_floats)
    except RecursionError as error:
        raise too_deep(sql) from error


def unread_query(error: SqlSyntaxError, sql: str, schema: Schema, library: Library) -> Plan:
    """Return the plan of a query that cannot be read: Spark computes it as it was written.

    Raises:
        SqlSyntaxError: it is not clear which tables it reads.
    """
    inlining = Inlining(library)
    try:
        named = tables_named(sql, schema, library)
    except SqlSyntaxError as unclear:
        detail = f"{error.detail} {unclear.detail}".strip()
        hint = unclear.hint
        raise SqlSyntaxError(
            error.message, sql=sql, span=error.span, detail=detail, hint=hint
        ) from unclear
    tables = known_tables(named, sql, schema, inlining)
    refusal = UnimplementedSqlError(
        "syntax that only Spark reads is not maintained incrementally by this version",
        sql=sql,
        span=error.span,
        detail=f"This version cannot read the query ({error.message}), so it has no delta rule.",
        hint="Write it in another way, or let full refreshes keep the table.",
    )
    refusals = (Refusal.of(refusal),)
    return Plan(sql, tables, refusals, (), None, schema, library, inlining.used, unread=True)


def _compiled(sql: str, schema: Schema, library: Library, approximate_floats: bool) -> Plan:
    notes = Notes()
    inlining = Inlining(library)
    query = parsed(sql, inlining)
    tables = tables_in(query, sql, schema, inlining)
    root: Node | None = None
    try:
        bound = bind(query, sql, schema, notes, inlining)
        require_storable(bound, sql)
        root = _deterministic(_output(bound))
        root = _approximate(root) if approximate_floats else root
        refuse_padded(root, query, sql)
        refusals = _float_refusal(root, sql)
    except (NotIncrementalError, UnimplementedSqlError) as refusal:
        refusals = (Refusal.of(refusal),)
    lines, used = tuple(notes.lines), inlining.used
    return Plan(sql, tables, refusals, lines, root, schema, library, used)


def compile_sql(
    sql: str,
    tables: Mapping[str, Mapping[str, str]],
    keys: Mapping[str, Sequence[str]] | None = None,
    views: Mapping[str, str] | None = None,
    *,
    approximate_floats: bool = False,
) -> Plan:
    """Compile a query against tables given as plain names and types: the public `compile`."""
    library = Library.of(View(name, text) for name, text in (views or {}).items())
    for name in tables:
        if library.view(name) is not None:
            raise ConfigError(f'"{name}" is given both as a table and as a view')
    schema = build_schema(tables, keys)
    return compile_query(sql, schema, library, approximate_floats=approximate_floats)


def _output(bound: Bound) -> Node:
    """Show the columns under the user's names, and keep key and order that are not shown."""
    shown = tuple(Projection(item.shown, column(item.inner), item.type) for item in bound.columns)
    return carry_order(carry_key(group_by_window_start(Project(bound.node, shown))))


def _deterministic(root: Node) -> Node:
    chain = root_chain(root)
    return sort_float_sums(root, chain.keyed if chain else None)


def _approximate(root: Node) -> Node:
    chain = root_chain(root)
    return approximate_root_sums(root, chain.keyed if chain else None)


def _float_refusal(root: Node, sql: str) -> tuple[Refusal, ...]:
    chain = root_chain(root)
    call = inexact_below(root, chain.keyed if chain else None)
    if call is None:
        return ()
    error = UnimplementedSqlError(
        f'"{call.function}" of floating-point numbers below another operator',
        sql=sql,
        span=span_of(call.arguments[0]),
        detail="Computed again, such a sum may differ in its last digits from the stored one.",
        hint="Cast the argument to DECIMAL, or use mode 'full'.",
    )
    return (Refusal.of(error),)
