"""Groups below other operators, kept in a table of their own.

An aggregate γ at the root is kept by its stored state: a change is added to what is stored.  Below
another operator, a condition of HAVING among them, its old value is stored nowhere, so the touched
groups are read before and after, all of their rows.  Stored apart, as a table of its own,

    Δγ = the changes of that table,        γ before and after = its two versions

and what stands above reads the table in the place of the aggregate.

The trap: only changes are followed over such tables.  A full refresh and a verification compute the
whole query from its sources, so that a wrong row in between is found and never believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from streamtables.compiler.algebra import Clock, Keyed, Node, Project, Projection, Scan
from streamtables.compiler.algebra.scan import ScanColumn
from streamtables.compiler.backend.statement import statement, to_sql
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.forms import Maintenance
from streamtables.compiler.maintenance.stored_state import as_aggregate
from streamtables.compiler.rewrites.rebuild import in_order, rebuild

_OURS = "__st_"


@dataclass(frozen=True, eq=False)
class GroupsApart:
    """One aggregate that can be a table of its own."""

    node: Node
    shown: Project
    """The same under names that a table's columns can have."""

    @cached_property
    def sql(self) -> str:
        """The query of the table."""
        return to_sql(statement(self.shown), "spark", pretty=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table, in the order of those of the aggregate."""
        return tuple(item.name for item in self.shown.columns)

    @property
    def maintenance(self) -> Maintenance:
        """How the table is kept."""
        return Maintenance.of(self.shown)

    def scan(self, table: str) -> Scan:
        """Return the reading of that table in the place of the aggregate."""
        fields = tuple(
            ScanColumn(stored, item.name, item.type)
            for stored, item in zip(self.names, self.node.columns, strict=True)
        )
        named = dict(zip((item.name for item in self.node.columns), self.names, strict=True))
        return Scan(table, fields, tuple(named[name] for name in self.node.key or ()))


def groups_apart(root: Node) -> tuple[GroupsApart, ...]:
    """Return the aggregates of a definition that can be tables of their own, the outermost ones.

    Each query comes once: of two aggregates that are the same both read one table.
    """
    found: dict[str, GroupsApart] = {}
    for node in _outermost(root):
        apart = _apart(node)
        found.setdefault(apart.sql, apart)
    return tuple(found.values())


def read_apart(root: Node, tables: Mapping[str, str]) -> Node:
    """Return a definition that reads tables, by their queries, in the place of their aggregates."""
    wanted = {id(node): node for node in _outermost(root)} if tables else {}

    def put(old: Node, new: Node) -> Node:
        apart = _apart(old) if id(old) in wanted else None
        return new if apart is None or apart.sql not in tables else apart.scan(tables[apart.sql])

    return rebuild(root, put)


def _outermost(root: Node) -> list[Node]:
    """Return what qualifies and stands in nothing else that does; not what the root keeps."""
    kept = Maintenance.of(root)
    at_root = kept.chain.keyed if kept.chain is not None and kept.state is not None else None
    found: list[Node] = []
    seen: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        if node is not at_root and _qualifies(node):
            found.append(node)
            return
        for child in node.inputs:
            visit(child)

    visit(root)
    return found


def _qualifies(node: Node) -> bool:
    """Whether a node is an aggregate by groups whose rows follow from stored state."""
    aggregate = as_aggregate(node) if isinstance(node, Keyed) else None
    if aggregate is None or not aggregate.group or any(_is_moving(n) for n in in_order(node)):
        return False
    return _apart(node).maintenance.state is not None


def _is_moving(node: Node) -> bool:
    # The moment of an internal table would have to be that of its owner.
    return isinstance(node, Clock)


def _apart(node: Node) -> GroupsApart:
    names = _stored_names(item.name for item in node.columns)
    shown = tuple(
        Projection(name, column(item.name), item.type)
        for name, item in zip(names, node.columns, strict=True)
    )
    return GroupsApart(node, Project(node, shown))


def _stored_names(names: Iterable[str]) -> Iterator[str]:
    """Yield a name for each column: its own, unless that is one of ours or taken."""
    taken: set[str] = set()
    for place, name in enumerate(names, start=1):
        plain = name.isidentifier() and not name.lower().startswith(_OURS)
        stored = name if plain and name.lower() not in taken else f"value_{place}"
        taken.add(stored.lower())
        yield stored
