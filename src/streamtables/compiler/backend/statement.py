"""From a plan to SQL text: one statement, or a short program of statements.

A relation that is used more than once, and each landmark of a delta (its keys and nets), becomes a
named step; what is used once stays where it is used.  In a statement the steps are CTEs.  In a
program some of them are statements of their own, whose rows the engine keeps: Spark would otherwise
compute them again at every use.  A statement has a price too, so of small changes only what reads a
table, or takes many operators, is computed apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    Distinct,
    InnerJoin,
    Keys,
    Net,
    Node,
    Restrict,
    Scan,
    Sum,
)
from streamtables.compiler.algebra.bounded import works_on_tables
from streamtables.compiler.algebra.held_values import Values
from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.algebra.recursive import reads_itself
from streamtables.compiler.backend import (  # noqa: F401
    generators,
    probes,
    recursion,
    weighed,
    windows,
)
from streamtables.compiler.backend.apart import Apart, parts_apart
from streamtables.compiler.backend.duckdb import spark_to_duckdb
from streamtables.compiler.backend.operators import render
from streamtables.compiler.backend.select import name
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.rewrites.wanted_rows import RowsWanted

Dialect = Literal["spark", "duckdb"]
TableNaming = Callable[[str, str], exp.Table]
"""Gives the table to read for a table of the query and a version of it."""

_STEP_NAMES: dict[type[Node], str] = {
    Aggregate: "groups",
    Distinct: "distinct_rows",
    InnerJoin: "joined",
    Keys: "keys",
    Net: "net",
    Sum: "terms",
}
_LANDMARKS = (Keys, Net)


@dataclass(frozen=True)
class Step:
    """A statement whose rows later statements read under its name."""

    name: str
    sql: str
    wanted: bool = False
    """Whether the rows are asked for, and not only read by later statements."""
    reads_table: bool = True
    """Whether it reads a table, and not only changes and earlier steps."""


@dataclass(frozen=True)
class KeyValues:
    """A column, and the columns of bound relations that hold every value wanted of it."""

    column: str
    held: tuple[tuple[str, str], ...]
    """Pairs of a view and a column of it."""
    null: bool = False
    """Whether NULL is wanted, whatever they hold."""
    null_left_out: bool = False
    """Whether NULL is not wanted, whatever they hold."""


@dataclass(frozen=True)
class Lookup:
    """Rows of a table that a program reads under the name of a view, found before it runs."""

    view: str
    table: str
    columns: tuple[str, ...]
    any_of: tuple[tuple[KeyValues, ...], ...]
    """A row is wanted for which, in one of these, every column has one of its values."""
    changes: str = ""
    """The view of the table's changes, for rows of the version before them."""
    conditions: tuple[PlainCondition, ...] = ()
    """What a row has to meet besides; the program leaves out what does not."""


@dataclass(frozen=True)
class Program:
    """Statements to run in order; the last one gives the answer."""

    steps: tuple[Step, ...]
    sql: str
    large: bool = False
    """Whether a part of it computes with whole tables, however small the changes are."""
    reads_table: bool = True
    """Whether the last statement reads a table, and not only changes and earlier steps."""
    lookups: tuple[Lookup, ...] = ()
    """Rows to be found first, in this order; a program without any reads the tables themselves."""
    keys: KeyValues | None = None
    """The keys that are asked for, where they are at hand and no step has to compute them."""
    columns: tuple[str, ...] = ()
    """The columns of the answer in order; none where the statement does not name them all."""


def by_schema(table: str, version: str) -> exp.Table:
    """Name relations `before.orders`, `after.orders`, `changes.orders`; `orders` for now."""
    parts = [name(part) for part in table.split(".")]
    if version == "now":
        return exp.Table(this=parts[-1], db=parts[0] if len(parts) > 1 else None)
    return exp.Table(this=name(table), db=name(version))


def by_view(table: str, version: str) -> exp.Table:
    """Name relations by one flat name, for temporary views: `__st_after_orders`."""
    return exp.Table(this=name(view_name(table, version)))


def view_name(table: str, version: str) -> str:
    """Return the temporary view under which a version of a table is bound."""
    return f"__st_{version}_{table.replace('.', '__')}"


def statement(root: Node, naming: TableNaming = by_schema) -> exp.Query:
    """Return the query that computes a relation, with its shared parts as CTEs."""
    return _Writer(naming, _named(root)).statement(root)


def program(
    root: Node,
    naming: TableNaming = by_view,
    *,
    small_changes: bool = False,
    wanted: Node | None = None,
    scans_at_most: int | None = None,
    lookups: Iterable[RowsWanted] = (),
    keys: tuple[str, Values] | None = None,
) -> Program:
    """Return the statements that compute a relation; `wanted` is a step whatever it takes."""
    named = _named(root)
    apart = parts_apart(
        root, named, small_changes=small_changes, wanted=wanted, scans_at_most=scans_at_most
    )
    _name_all(apart.parts, named)
    writer = _Writer(naming, named, small_changes=small_changes)
    if small_changes:
        writer.looked_up = _only_looked_up(root) - {id(node) for node in apart.parts}
    steps: list[Step] = []
    for node, text in zip(apart.parts, apart.texts, strict=False):
        sql = to_sql(writer.statement(node), pretty=False)
        steps.append(Step(named[id(node)], sql, node is wanted, text.scans > 0))
        writer.kept.add(id(node))
    large = any(works_on_tables(node) for node in in_order(root))
    query = writer.statement(root)
    last = to_sql(query, pretty=False)
    found = tuple(_lookup(item) for item in lookups)
    held = None if keys is None else _key_values(*keys)
    reads_table = apart.texts[-1].scans > 0
    return Program(tuple(steps), last, large, reads_table, found, held, _columns(query))


def _columns(query: exp.Query) -> tuple[str, ...]:
    """Return the names of what a statement gives; none where it does not say them all."""
    names = tuple(query.named_selects)
    told = all(names) and "*" not in names
    return names if told and len({known.lower() for known in names}) == len(names) else ()


def _lookup(wanted: RowsWanted) -> Lookup:
    any_of = tuple(tuple(_key_values(*item) for item in one) for one in wanted.any_of)
    view = view_name(wanted.table, wanted.name)
    changes = view_name(wanted.table, "changes") if wanted.version == "before" else ""
    return Lookup(view, wanted.table, wanted.columns, any_of, changes, wanted.conditions)


def _key_values(column: str, values: Values) -> KeyValues:
    held = tuple((view_name(h.table, h.relation), h.column) for h in sorted(values.columns))
    return KeyValues(column, held, values.null, values.null_left_out)


def statements_of(
    root: Node,
    *,
    small_changes: bool = False,
    wanted: Node | None = None,
    scans_at_most: int | None = None,
) -> Apart:
    """Return which statements `program` would write, without writing them."""
    return parts_apart(
        root, _named(root), small_changes=small_changes, wanted=wanted, scans_at_most=scans_at_most
    )


def to_sql(query: exp.Query, dialect: Dialect = "spark", *, pretty: bool = True) -> str:
    """Return the text of a statement in a dialect.

    The tree speaks Spark, with calls as the user wrote them.  For DuckDB the text is read again by
    sqlglot's own Spark dialect, which knows what the calls mean.
    """
    ours = dialect == "spark" and pretty
    text = query.sql(
        dialect=VerbatimSpark, identify=True, normalize_functions=False, pretty=ours, copy=False
    )
    if dialect == "spark":
        return text
    return spark_to_duckdb(text, pretty=pretty)


class _Writer:
    """Writes statements over named steps; those in `kept` are read as tables, not written again."""

    def __init__(
        self, naming: TableNaming, named: Mapping[int, str], *, small_changes: bool = False
    ) -> None:
        self.small_changes = small_changes
        self._naming = naming
        self.named = named
        self.kept: set[int] = set()
        self.looked_up: frozenset[int] = frozenset()
        self.recursions: dict[str, str] = {}
        self._used: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        """Return a name that the statement has not used yet."""
        self._used[stem] = self._used.get(stem, 0) + 1
        return f"__st_{stem}_{self._used[stem]}"

    def statement(self, root: Node) -> exp.Query:
        steps = [node for node in self._reachable(root) if id(node) in self.named]
        written = [(self.named[id(node)], render(node, self)) for node in steps]
        query = render(root, self)
        if written:
            tables = [exp.CTE(this=body, alias=_alias(step)) for step, body in written]
            query.set("with_", exp.With(expressions=tables))
        return query

    def naming(self, table: str, version: str) -> exp.Table:
        """Return the table to read for a version of a table."""
        return self._naming(table, version)

    def is_step(self, node: Node) -> bool:
        """Whether a relation has a name of its own in the statement."""
        return id(node) in self.named

    def may_repeat(self, node: Node) -> bool:
        """Whether nothing minds that the rows of a set are written more than once."""
        return id(node) in self.looked_up

    def source(self, node: Node, alias: str) -> exp.Expr:
        """Return the FROM item for a relation."""
        if id(node) in self.named:
            return exp.Table(this=name(self.named[id(node)]), alias=_alias(alias))
        return exp.Subquery(this=render(node, self), alias=_alias(alias))

    def _reachable(self, root: Node) -> list[Node]:
        """Return what a statement must write: all below the root, but nothing below kept steps."""
        order: list[Node] = []
        seen: set[int] = set()

        def visit(node: Node) -> None:
            for child in node.inputs:
                if id(child) not in seen and id(child) not in self.kept:
                    seen.add(id(child))
                    visit(child)
                    order.append(child)

        visit(root)
        return order


def _alias(text: str) -> exp.TableAlias:
    return exp.TableAlias(this=name(text))


def _named(root: Node) -> dict[int, str]:
    order = in_order(root)
    uses = Counter(id(child) for node in order for child in node.inputs)
    counters: dict[str, int] = {}
    named: dict[int, str] = {}
    for node in order:
        shared = uses[id(node)] > 1 and not isinstance(node, Scan)
        if node is root or not (shared or isinstance(node, _LANDMARKS)) or reads_itself(node):
            continue
        stem = _STEP_NAMES.get(type(node), "step")
        counters[stem] = counters.get(stem, 0) + 1
        named[id(node)] = f"__st_{stem}_{counters[stem]}"
    return named


def _only_looked_up(root: Node) -> frozenset[int]:
    """Return the key sets in which rows are looked up, and which nothing else reads."""
    looked_up: set[int] = set()
    read: set[int] = set()
    for node in in_order(root):
        keys = node.keys if isinstance(node, Restrict) else None
        read.update(id(item) for item in node.inputs if item is not keys)
        if isinstance(keys, Keys):
            looked_up.add(id(keys))
    return frozenset(looked_up - read)


def _name_all(parts: Iterable[Node], named: dict[int, str]) -> None:
    """Name the parts that are apart for their width alone."""
    wide = [node for node in parts if id(node) not in named]
    named.update({id(node): f"__st_part_{number}" for number, node in enumerate(wide, start=1)})
