"""Which values a column can have, as far as rows that are at hand tell.

Changes are on the driver before anything is computed, and so are rows that a lookup found.  Where a
column only passes values on from there, its values are known without computing the relation:

    values(c, X) ⊆ ⋃ values of columns that are held

A larger set than the true one is fine: it says where to look, not what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from streamtables.compiler.algebra.aggregate import Aggregate
from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.found_scan import found_scan
from streamtables.compiler.algebra.generate import Generate
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.left_join import LeftJoin
from streamtables.compiler.algebra.node import Empty, Node, kept
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.project import Project
from streamtables.compiler.algebra.restriction import Keys, Restrict
from streamtables.compiler.algebra.scan import Scan
from streamtables.compiler.algebra.signed import Negate, Net, Repeat, Sum
from streamtables.compiler.algebra.touched import Touched
from streamtables.compiler.algebra.union_all import UnionAll
from streamtables.compiler.algebra.weighed import Weighed


@dataclass(frozen=True, order=True)
class HeldColumn:
    """A column of rows that are at hand: the changes of a table, or rows of it that were found."""

    table: str
    relation: str
    column: str

    @property
    def turn(self) -> int:
        """The turn of lookups in which it is found; 0 for what is there from the start."""
        return turn_of(self.relation)


def turn_of(relation: str) -> int:
    """Return the turn in which a relation is found; 0 for one that is there from the start."""
    head, _, numbers = relation.partition("_")
    return int(numbers.partition("_")[0]) if head in ("found", "old") else 0


@dataclass(frozen=True)
class Values:
    """Those of some held columns together, and perhaps NULL."""

    columns: frozenset[HeldColumn] = frozenset()
    null: bool = False
    """Whether NULL is one of them, whatever the columns hold."""
    null_left_out: bool = False
    """Whether NULL is none of them, whatever the columns hold."""

    def __or__(self, other: Values) -> Values:
        return Values(
            self.columns | other.columns,
            self.null or other.null,
            self.null_left_out and other.null_left_out,
        )


@kept
def values_of(node: Node, name: str) -> Values | None:
    """Return where the values of a column come from; None where only computing it would tell."""
    match node:
        case Scan():
            return _held(node, name)
        case Empty():
            return Values()
        case Project():
            [item] = [item for item in node.projections if item.name == name]
            if item.passes is None or node.input.type_of(item.passes) != item.type:
                return None
            return values_of(node.input, item.passes)
        case Keys(nulls=False):
            found = values_of(node.input, name)
            return None if found is None else Values(found.columns, null_left_out=True)
        case Filter() | Net() | Negate() | Repeat() | Keys() | Weighed():
            return values_of(node.input, name)
        case Sum() | UnionAll():
            if any(item.type_of(name) != node.type_of(name) for item in node.inputs):
                return None
            return _united(values_of(item, name) for item in node.inputs)
        case Restrict():
            return _of_restricted(node, name)
        case Touched() | Generate():
            return values_of(node.input, name) if name in node.input.names else None
        case Aggregate():
            return values_of(node.input, name) if name in node.group else None
        case Keyed():
            return values_of(node.input, name) if name in node.input.names else None
        case InnerJoin():
            return _joined(node, name)
        case Probe():
            return _probed(node, name)
        case _:
            return None


def has_every_value(keys: Keys, name: str) -> bool:
    """Whether a column of keys has all of the values that `values_of` names: none is left out."""
    return _has_every_value(keys.input, name)


def _has_every_value(node: Node, name: str) -> bool:
    match node:
        case Scan():
            return _held(node, name) is not None
        case Project():
            [item] = [item for item in node.projections if item.name == name]
            if item.passes is None or node.input.type_of(item.passes) != item.type:
                return False
            return _has_every_value(node.input, item.passes)
        case Negate() | Keys(nulls=True):
            return _has_every_value(node.input, name)
        case Sum() | UnionAll():
            return all(_has_every_value(item, name) for item in node.inputs)
        case _:
            return False


def _held(scan: Scan, name: str) -> Values | None:
    if scan.version != "changes" and not scan.found and scan.version != "now":
        return None
    [source] = [field.source for field in scan.fields if field.name == name]
    return Values(frozenset({HeldColumn(scan.table, scan.relation, source)}))


def _united(parts: Iterable[Values | None]) -> Values | None:
    found = list(parts)
    if any(part is None for part in found):
        return None
    return reduce(Values.__or__, (part for part in found if part is not None), Values())


def _of_restricted(node: Restrict, name: str) -> Values | None:
    """Return the values of the keys, or of rows that were found by less than these."""
    keys = _of_keys(node, name)
    scan = found_scan(node.input, name)
    if keys is not None and (scan is None or not _leaves_some_out(scan[0], keys)):
        return keys
    return values_of(node.input, name)


def _leaves_some_out(scan: Scan, keys: Values) -> bool:
    """Whether rows were found by conditions too, or by rows that were found by the keys."""
    turn = max((held.turn for held in keys.columns), default=0)
    return bool(scan.conditions) or turn_of(scan.found) > turn + 1


def _of_keys(node: Restrict, name: str) -> Values | None:
    """Return the values of the keys that a column must equal; one that has others has no row."""
    for column, key in node.on:
        if column == name and node.input.type_of(name) == node.keys.type_of(key):
            return values_of(node.keys, key)
    return None


def _joined(join: InnerJoin, name: str) -> Values | None:
    """Return the values of the column itself, or of one that it must equal."""
    own = join.type_of(name)
    equal = [b if a == name else a for a, b in join.equalities if name in (a, b)]
    for column in (name, *(item for item in equal if join.type_of(item) == own)):
        [part] = [item for item in join.parts if column in item.names]
        if (found := values_of(part, column)) is not None:
            return found
    return None


def _probed(node: Probe, name: str) -> Values | None:
    if name in node.left.names:
        return values_of(node.left, name)
    if not isinstance(node, LeftJoin):
        return None
    found = values_of(node.right, name)
    # A left row without a match stands beside NULLs.
    return None if found is None else found | Values(null=True)
