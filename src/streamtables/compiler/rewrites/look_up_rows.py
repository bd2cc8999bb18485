"""Read the rows that keys name in the place of a table, where the keys are at hand.

A small change reaches a table only by equalities: rows with one of its keys, rows that join it.
Such keys are values of rows that are on the driver already (held_values.py).  So whoever runs the
program can fetch the rows of a table that have them, in one pass and before anything is computed,
and Spark works on a few rows where it would plan and read a table.

    X ⋉ K         the rows of X with a value of K            (also under any of several K)
    ΔR ⋈ X        the rows of X with a value of ΔR in the column that must equal it

The conditions stay in the program.  A lookup may find more than they ask for, never less, so the
answer is the same.  Plain ones that a filter above asks for (note_conditions.py) are conditions of
the lookup too: each row that it leaves out spares a lookup of what the row names.  Rows are looked
up in a table as it is, and as it was: what was there before is what is found now without the
changes, and those are on the driver too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from streamtables.compiler.algebra import (
    Filter,
    InnerJoin,
    Negate,
    Net,
    Node,
    Probe,
    Project,
    Restrict,
    Scan,
    Sum,
    Touched,
    UnionAll,
)
from streamtables.compiler.algebra.held_values import HeldColumn, Values, values_of
from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.algebra.restriction import On
from streamtables.compiler.rewrites.note_conditions import note_conditions, without_conditions
from streamtables.compiler.rewrites.rebuild import in_order, rebuild
from streamtables.compiler.types import has_plain_image

Wanted = tuple[tuple[str, Values], ...]
"""Columns and the values that each must have one of; a row is wanted that has all."""
AnyOf = tuple[Wanted, ...]
"""Several such; a row is wanted by any of them.  None means that nothing is known to ask for."""
Place = tuple[str, str]
"""A table, and the name of a lookup in it."""


@dataclass(frozen=True)
class RowsWanted:
    """One pass over a version of a table: which rows it is to find, and which of their columns."""

    table: str
    version: str
    name: str
    columns: tuple[str, ...]
    any_of: tuple[Wanted, ...]
    conditions: tuple[PlainCondition, ...]
    """What a row has to meet besides."""


def look_up_rows(root: Node) -> tuple[Node, LookupBook]:
    """Return the relation over found rows, and the book of what is to be found."""
    book = LookupBook()
    found = rebuild(note_conditions(root), lambda _, new: _narrowed_inputs(new, book))
    return without_conditions(found), book


class LookupBook:
    """The lookups so far: in each version of a table one for each thing that is wanted of it.

    A lookup for values that another one finds belongs to a later round.
    """

    def __init__(self) -> None:
        self._wanted: dict[Place, AnyOf] = {}
        self._conditions: dict[Place, tuple[PlainCondition, ...]] = {}
        self._versions: dict[Place, str] = {}
        self._numbers: dict[tuple[str, int], dict[object, int]] = {}

    def found(self, scan: Scan, wanted: AnyOf) -> Scan:
        """Return the scan of the rows that are wanted of a table."""
        sources = {field.name: field.source for field in scan.fields}
        each = (
            sorted(((sources[column], values) for column, values in one), key=itemgetter(0))
            for one in wanted
        )
        any_of = tuple(dict.fromkeys(map(tuple, each)))
        turn = _round_of(any_of)
        numbers = self._numbers.setdefault((scan.table, turn), {})
        number = numbers.setdefault((any_of, scan.conditions), len(numbers) + 1)
        name = f"{'found' if scan.version == 'after' else 'old'}_{turn}_{number}"
        place = (scan.table, name)
        self._versions[place] = scan.version
        self._wanted[place] = any_of
        self._conditions[place] = scan.conditions
        return replace(scan, found=name)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked up."""
        return not self._wanted

    def wanted(self, scan: Scan) -> AnyOf:
        """Return what the rows of a scan were found by."""
        return self._wanted[scan.table, scan.found]

    def lookups(self, root: Node) -> tuple[RowsWanted, ...]:
        """Return what a relation reads, directly or by another lookup, in the order of finding."""
        columns: dict[Place, dict[str, None]] = {}
        for node in in_order(root):
            if isinstance(node, Scan) and node.found:
                _add(columns, (node.table, node.found), (field.source for field in node.fields))
        made: list[RowsWanted] = []
        # From the last round to the first: a lookup asks only for rows of earlier ones.
        for place in sorted(self._wanted, key=lambda item: -_turn(item[1])):
            if place not in columns:
                continue
            wanted, conditions = self._wanted[place], self._conditions[place]
            _add(columns, place, (column for one in wanted for column, _ in one))
            _add(columns, place, (item.column for item in conditions))
            for held in _held_by(wanted):
                if _turn(held.relation):
                    _add(columns, (held.table, held.relation), (held.column,))
            table, name = place
            made.append(RowsWanted(table, self._versions[place], name, (), wanted, conditions))
        return tuple(
            replace(item, columns=tuple(columns[item.table, item.name])) for item in reversed(made)
        )


def _add(columns: dict[Place, dict[str, None]], place: Place, names: Iterable[str]) -> None:
    columns.setdefault(place, {}).update(dict.fromkeys(names))


def _held_by(wanted: AnyOf) -> Iterable[HeldColumn]:
    return (held for one in wanted for _, values in one for held in values.columns)


def _round_of(wanted: AnyOf) -> int:
    """Return the round in which all the values are at hand."""
    return 1 + max((_turn(held.relation) for held in _held_by(wanted)), default=0)


def _turn(relation: str) -> int:
    """Return the round in which a relation is found; 0 for one that is there from the start."""
    head, _, numbers = relation.partition("_")
    return int(numbers.partition("_")[0]) if head in ("found", "old") else 0


def _narrowed_inputs(node: Node, book: LookupBook) -> Node:
    match node:
        case Restrict():
            wanted = _asked(node.input, node.keys, node.on)
            return _over(node, (_narrowed(node.input, wanted, book), node.keys))
        case Touched():
            key_sets = zip(node.key_sets, node.pairs, strict=True)
            each = [_asked(node.input, keys, on) for keys, on in key_sets]
            wanted = tuple(item for one in each for item in one) if all(each) else ()
            return _over(node, (_narrowed(node.input, wanted, book), *node.key_sets))
        case InnerJoin():
            return _joined(node, book)
        case Probe():
            pairs = tuple((right, left) for left, right in node.equalities)
            wanted = _asked(node.right, node.left, pairs)
            return _over(node, (node.left, _narrowed(node.right, wanted, book)))
        case _:
            return node


def _joined(join: InnerJoin, book: LookupBook) -> Node:
    """Look up the rows of one input after the other, from those that are at hand."""
    parts = list(join.parts)
    pairs = (*join.equalities, *((right, left) for left, right in join.equalities))
    moved = True
    while moved:
        moved = False
        for place, part in enumerate(parts):
            others = parts[:place] + parts[place + 1 :]
            new = _narrowed(part, _asked_by_any(part, others, pairs), book)
            if new is not part:
                parts[place], moved = new, True
    return _over(join, tuple(parts))


def _asked_by_any(part: Node, others: Sequence[Node], pairs: On) -> AnyOf:
    """Return what an input is asked for by the others; of several, by what is at hand first."""
    each = []
    for other in others:
        own = tuple((a, b) for a, b in pairs if a in part.names and b in other.names)
        each.append(_asked(part, other, own))
    return min((item for item in each if item), key=_round_of, default=())


def _asked(node: Node, keys: Node, on: On) -> AnyOf:
    """Return the pairs whose values are at hand, and are equal only where they are the same."""
    found: dict[str, Values] = {}
    for column, key in on:
        kind = node.type_of(column)
        values = values_of(keys, key)
        if values is None or not has_plain_image(kind) or kind != keys.type_of(key):
            continue
        found.setdefault(column, values)
    return (tuple(found.items()),) if found else ()


def _narrowed(node: Node, wanted: AnyOf, book: LookupBook) -> Node:
    """Return the relation over found rows; itself where a table below is needed as a whole."""
    if not wanted:
        return node
    match node:
        case Scan(version="after" | "before", found=""):
            return book.found(node, wanted)
        case Project():
            return _over(node, (_narrowed(node.input, _below(node, wanted), book),))
        case Filter() | Net() | Negate() | Sum() | UnionAll():
            return _over(node, tuple(_narrowed(item, wanted, book) for item in node.inputs))
        case Restrict() | Touched():
            first, *keys = node.inputs
            return _over(node, (_narrowed(first, wanted, book), *keys))
        case _:
            return node


def _below(node: Project, wanted: AnyOf) -> AnyOf:
    """Return what is wanted of the input; nothing where one of several has no column there."""
    origin = {item.name: item.passes for item in node.projections}
    each = [
        tuple((name, values) for column, values in one if (name := origin[column]) is not None)
        for one in wanted
    ]
    return tuple(each) if all(each) else ()


def _over(node: Node, inputs: tuple[Node, ...]) -> Node:
    same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
    return node if same else node.with_inputs(*inputs)
