"""What a change of one table alone costs, as a class: with what the work grows.

    O(changed rows)             each changed row leads to at most one row of each table
    O(changed rows × matches)   it also leads to all rows that match it
    O(lost groups)              the rows of groups whose least or greatest value may have gone, or
                                all rows where those that move up among the first are not stored
    O(touched groups)           all rows of the groups that it falls into are computed again
    O(touched partitions)       the same for the partitions of a window
    O(changed rows × rows)      it is compared with every row of another table
    O(whole)                    whole tables are computed with, however small the change

A class counts the rows that operators compute with.  It does not count the reading of a table in
search of them, which Delta shortens where files tell what they hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.compiler.algebra import (
    Existence,
    InnerJoin,
    Keyed,
    Node,
    Probe,
    Recursive,
    TopK,
    Window,
    kind_of,
    may_change,
)
from streamtables.compiler.algebra.bounded import is_bounded, works_on_tables
from streamtables.compiler.algebra.keyed import must_be_computed
from streamtables.compiler.algebra.node import FORMS_AT_MOST, is_changed_whole
from streamtables.compiler.algebra.recursive import reads_itself
from streamtables.compiler.maintenance import ChangedTables, Maintenance
from streamtables.compiler.plan_text import short
from streamtables.compiler.rewrites.rebuild import in_order

Class = Literal[
    "nothing",
    "O(changed rows)",
    "O(changed rows × matches)",
    "O(lost groups)",
    "O(touched groups)",
    "O(touched partitions)",
    "O(changed rows × rows)",
    "O(whole)",
]

_ORDER: tuple[Class, ...] = Class.__args__  # type: ignore[attr-defined]  # a Literal lists them


@dataclass(frozen=True)
class Cost:
    """The class of a change, and the operator that decides it."""

    cost: Class
    reason: str

    def or_worse(self, other: Cost) -> Cost:
        """Return the worse of two; this one when they are alike."""
        return other if _ORDER.index(other.cost) > _ORDER.index(self.cost) else self


_NOTHING = Cost("nothing", "the query reads no column of it")


def cost_of_change(maintenance: Maintenance, table: str) -> Cost:
    """Return what a change of one table costs while all others stay as they are."""
    changed = maintenance.restricted_to(frozenset({table}), small=True)
    marked = changed.table
    if not may_change(marked.definition):
        return _NOTHING
    if is_changed_whole(marked.changed_relation):
        return Cost("O(whole)", f"the rules would make more than {FORMS_AT_MOST:,} forms")
    whole = _computed_whole(changed)
    if whole is not None:
        return Cost("O(whole)", f"{short(whole)} is computed from whole tables")
    return _on_the_way(marked)


def computed_whole(maintenance: Maintenance, table: str) -> Node | None:
    """Return the operator that a change of one table alone computes from whole tables, if any."""
    changed = maintenance.restricted_to(frozenset({table}), small=True)
    return _computed_whole(changed) if may_change(changed.table.definition) else None


def _computed_whole(changed: ChangedTables) -> Node | None:
    node = next(filter(_computes_with_tables, in_order(changed.relation)), None)
    return None if node is None else _named(changed.table, node)


def _computes_with_tables(node: Node) -> bool:
    """Whether an operator of a delta has no input that is as small as the changes."""
    if reads_itself(node):
        # What a step of a recursion reads is as small as that which the recursion starts from.
        return False
    if isinstance(node, Recursive):
        return not is_bounded(node.base)
    return works_on_tables(node) or (isinstance(node, InnerJoin) and not is_bounded(node))


def _named(table: Maintenance, node: Node) -> Node:
    """Return an operator of the query to name for one of its delta."""
    changing = (item for item in in_order(table.definition) if may_change(item))
    whole = (item for item in changing if kind_of(item) == "whole")
    return next(whole, node)


def _on_the_way(table: Maintenance) -> Cost:
    """Return the worst that a change meets on its way from the scans up to the root."""
    worst = Cost("O(changed rows)", "each changed row is looked at by itself")
    for node in in_order(table.definition):
        for index, part in enumerate(node.inputs):
            if may_change(part):
                worst = worst.or_worse(_through(table, node, index))
    return worst


def _through(table: Maintenance, node: Node, changed: int) -> Cost:
    """Return what an operator adds to the cost of a change of one of its inputs."""
    match node:
        case InnerJoin():
            return _through_join(node, changed)
        case Probe():
            return _through_probe(node, changed)
        case Keyed():
            return _through_keyed(table, node)
        case Recursive():
            return Cost("O(changed rows × matches)", f"{short(node)} walks on from changed rows")
        case _:
            return _NOTHING


def _through_join(join: InnerJoin, changed: int) -> Cost:
    worst = _NOTHING
    for index, part in enumerate(join.parts):
        if index != changed:
            equal = {name for pair in join.equalities for name in pair} & set(part.names)
            worst = worst.or_worse(_met(part, equal, short(join)))
    return worst


def _through_probe(node: Probe, changed: int) -> Cost:
    if changed == 1:
        return Cost(
            "O(changed rows × matches)",
            f"rows of the left side that {short(node)} matches are answered again",
        )
    equal = {right for _, right in node.equalities}
    return _met(node.right, equal, short(node), asks_only=isinstance(node, Existence))


def _met(part: Node, equal: set[str], place: str, *, asks_only: bool = False) -> Cost:
    """Return what it costs to find the rows of an input that changed rows of another lead to."""
    if part.key == ():
        return _NOTHING
    if not equal:
        return Cost("O(changed rows × rows)", f"{place} has no equality to look rows up by")
    if must_be_computed(part):
        return Cost("O(touched groups)", f"groups that {place} looks up are computed")
    if asks_only or (part.key is not None and set(part.key) <= equal):
        return _NOTHING
    return Cost("O(changed rows × matches)", f"{place} may match many rows")


def _through_keyed(table: Maintenance, node: Keyed) -> Cost:
    if table.state is not None and table.chain is not None and node is table.chain.keyed:
        if table.state.may_lose:
            lost = "a group is computed again where the state may not tell its values any more"
            return Cost("O(lost groups)", f"what changed is put to the stored state; {lost}")
        return Cost("O(changed rows)", "what changed is added to the stored state")
    if table.first is not None and table.chain is not None and node is table.chain.keyed:
        lost = "all rows are looked at where those do not tell which move up"
        return Cost("O(lost groups)", f"the first are taken of stored and changed rows; {lost}")
    if isinstance(node, Window | TopK):
        return Cost("O(touched partitions)", f"{short(node)} is computed for touched partitions")
    return Cost("O(touched groups)", f"{short(node)} is computed for touched groups")
