"""Which rows of tables a program wants to have at hand, and in which order they can be found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter

from streamtables.compiler.algebra import Node, Scan
from streamtables.compiler.algebra.held_values import HeldColumn, Values, turn_of
from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.rewrites.rebuild import in_order

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
        each = (tuple((sources[column], values) for column, values in one) for one in wanted)
        return self._named(scan, each)

    def found_anew(self, scan: Scan, wanted: Wanted) -> Scan:
        """Return a scan of found rows as one of others: columns are those of the table."""
        return self._named(scan, (wanted,))

    def _named(self, scan: Scan, wanted: Iterable[Wanted]) -> Scan:
        any_of = tuple(dict.fromkeys(tuple(sorted(one, key=itemgetter(0))) for one in wanted))
        turn = round_of(any_of)
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

    def finds_only(self, place: Place, column: str, values: Values) -> bool:
        """Whether each row of a lookup has one of these values in the column."""
        any_of = self._wanted.get(place, ())
        if len(any_of) != 1 or column not in dict(any_of[0]):
            return False
        asked = dict(any_of[0])[column]
        if asked == values:
            return True
        held = asked.columns
        return bool(held) and all(
            self.finds_only((item.table, item.relation), item.column, values) for item in held
        )

    def lookups(self, root: Node) -> tuple[RowsWanted, ...]:
        """Return what a relation reads, directly or by another lookup, in the order of finding."""
        columns: dict[Place, dict[str, None]] = {}
        for node in in_order(root):
            if isinstance(node, Scan) and node.found:
                _add(columns, (node.table, node.found), (field.source for field in node.fields))
        made: list[RowsWanted] = []
        # From the last round to the first: a lookup asks only for rows of earlier ones.
        for place in sorted(self._wanted, key=lambda item: -turn_of(item[1])):
            if place not in columns:
                continue
            wanted, conditions = self._wanted[place], self._conditions[place]
            _add(columns, place, (column for one in wanted for column, _ in one))
            _add(columns, place, (item.column for item in conditions))
            for held in _held_by(wanted):
                if held.turn:
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


def round_of(wanted: AnyOf) -> int:
    """Return the round in which all the values are at hand."""
    return 1 + max((held.turn for held in _held_by(wanted)), default=0)
