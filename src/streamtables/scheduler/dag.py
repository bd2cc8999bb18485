"""Who reads whom, at the size of a whole warehouse.

A `Dag` never changes.  An edit gives another one that shares the rows of all nodes that it does not
concern, so its cost follows the descendants that change and not the size of the graph.  Positions
stay as they are from one edit to the next; those of dropped tables stay empty until a repack.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from threading import Lock

from streamtables.catalog.dependencies import find_cycle
from streamtables.errors import CycleError, InUseError, NotFoundError
from streamtables.positions import InputId
from streamtables.scheduler.dag_edit import Edit
from streamtables.scheduler.dag_rows import Row, pack, pack_in_order, positions_in
from streamtables.scheduler.shared_map import SharedMap

_EMPTY_POSITIONS = 256
"""So many empty positions are never worth a repack."""


@dataclass(frozen=True, eq=False)
class Dag:
    """Stream tables and the sources that they stand on.

    A source is a node that is read and has no inputs of its own.  It is there as long as a table
    reads it.
    """

    _rows: SharedMap[InputId, Row]
    _names: SharedMap[int, InputId]
    _width: int

    @classmethod
    def build(cls, edges: Mapping[InputId, Collection[InputId]]) -> Dag:
        """Return the dag of all tables, given with their direct inputs."""
        if (path := find_cycle(edges)) is not None:
            raise _cycle(path)
        return cls._of(pack(edges))

    @classmethod
    def _of(cls, rows: Mapping[InputId, Row]) -> Dag:
        names = {row.position: node for node, row in rows.items()}
        return cls(SharedMap(rows), SharedMap(names), len(rows))

    def __contains__(self, node: InputId) -> bool:
        return node in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def sources(self) -> frozenset[InputId]:
        """All nodes that someone else writes."""
        return frozenset(node for node, row in self._rows.items() if row.level == 0)

    def inputs(self, node: InputId) -> tuple[InputId, ...]:
        """Return what `node` reads directly; nothing for a source."""
        return self._row(node).inputs

    def levels(self) -> tuple[tuple[InputId, ...], ...]:
        """Return the stream tables in levels: each reads only sources and lower levels.

        Within a level they stand by name, whatever edits led here.
        """
        return self._levels

    @cached_property
    def order(self) -> tuple[InputId, ...]:
        """All stream tables, each after all that it reads."""
        return tuple(table for level in self._levels for table in level)

    def ancestors(self, node: InputId) -> frozenset[InputId]:
        """Return everything that `node` stands on."""
        row = self._row(node)
        return frozenset(self._named(row.lineage ^ row.bit))

    def roots(self, node: InputId) -> frozenset[InputId]:
        """Return the sources that `node` stands on; of a source, itself."""
        lineage = self._named(self._row(node).lineage)
        return frozenset(name for name in lineage if self._rows[name].level == 0)

    def descendants(self, node: InputId) -> frozenset[InputId]:
        """Return every stream table that stands on `node`."""
        self._row(node)
        return frozenset(self._reached((node,)))

    def affected(self, changed: Collection[InputId]) -> tuple[InputId, ...]:
        """Return all that stand on any of `changed`, each after what it reads.

        A node that is not known here is read by nobody, so it affects nothing.
        """
        known = [node for node in changed if node in self._rows]
        return tuple(sorted(self._reached(known), key=self._place))

    def reaches(self, lower: InputId, upper: InputId) -> bool:
        """Whether `upper` stands on `lower`."""
        row = self._row(lower)
        return lower != upper and self._row(upper).lineage >> row.position & 1 == 1

    def shares_ancestor(self, one: InputId, other: InputId) -> bool:
        """Whether both stand on one node, or one of them on the other."""
        return self._row(one).lineage & self._row(other).lineage != 0

    def closes_diamond(self, node: InputId) -> bool:
        """Whether two inputs of `node` share an ancestor, so that they have to move together."""
        seen = 0
        for name in self._row(node).inputs:
            lineage = self._rows[name].lineage
            if seen & lineage:
                return True
            seen |= lineage
        return False

    def diamonds(self) -> frozenset[InputId]:
        """Return the nodes at which diamonds close."""
        return frozenset(filter(self.closes_diamond, self.order))

    def with_table(self, table: InputId, inputs: Collection[InputId]) -> Dag:
        """Return a dag in which `table`, new or known, reads `inputs`."""
        wanted = tuple(sorted(set(inputs)))
        self._refuse_cycle(table, wanted)
        edit = self._edit()
        edit.set_inputs(table, wanted)
        return self._edited(edit)

    def without(self, table: InputId) -> Dag:
        """Return a dag without `table`, which nobody may read any more."""
        if readers := sorted(self._named(self._row(table).readers)):
            raise InUseError(f'"{table}" is read by {len(readers)}, first by "{readers[0]}"')
        edit = self._edit()
        edit.drop(table)
        return self._edited(edit)

    @property
    def needs_repack(self) -> bool:
        """Whether so many positions are empty that every set is twice as wide as it has to be."""
        return self._width - len(self) > max(_EMPTY_POSITIONS, len(self))

    def repacked(self) -> Dag:
        """Return the same dag, built anew at positions without gaps.

        The order of the tables is known, and that there is no cycle: neither is looked for again.
        Threads that look at this dag meanwhile go first.
        """
        edges = {node: row.inputs for node, row in self._rows.items() if row.level}
        return Dag._of(pack_in_order(edges, self.order, gently=True))

    @cached_property
    def _levels(self) -> tuple[tuple[InputId, ...], ...]:
        tables = sorted(self._place(node) for node, row in self._rows.items() if row.level)
        levels = groupby(tables, key=lambda place: place[0])
        return tuple(tuple(node for _, node in level) for _, level in levels)

    def _place(self, node: InputId) -> tuple[int, InputId]:
        return self._rows[node].level, node

    def _row(self, node: InputId) -> Row:
        if (row := self._rows.get(node)) is None:
            raise NotFoundError(f'"{node}" is not among the stream tables and their sources')
        return row

    def _named(self, bits: int) -> Iterator[InputId]:
        return (self._names[position] for position in positions_in(bits))

    def _reached(self, starts: Iterable[InputId]) -> set[InputId]:
        found: set[InputId] = set()
        waiting = list(starts)
        while waiting:
            new = list(self._named(self._rows[waiting.pop()].readers))
            waiting += (name for name in new if name not in found)
            found.update(new)
        return found

    def _refuse_cycle(self, table: InputId, inputs: Iterable[InputId]) -> None:
        for node in inputs:
            if node == table:
                raise _cycle((table, table))
            if table in self and node in self and self.reaches(table, node):
                raise _cycle((table, *self._path(node, table)))

    def _path(self, reader: InputId, target: InputId) -> Iterator[InputId]:
        """Yield a way down from `reader` to `target`, both included."""
        while reader != target:
            yield reader
            inputs = self._rows[reader].inputs
            reader = next(name for name in inputs if name == target or self.reaches(target, name))
        yield target

    def _edit(self) -> Edit:
        return Edit(self._rows, self._names, self._width)

    def _edited(self, edit: Edit) -> Dag:
        return Dag(self._rows.edited(edit.rows), self._names.edited(edit.names), edit.width)


def _cycle(path: Iterable[InputId]) -> CycleError:
    return CycleError(f"stream tables would read each other: {' → '.join(path)}")


class DagHolder:
    """The dag that holds now; a reader takes `current` once and asks that one.

    Readers need no lock: they see the dag from before a change or the one after it.  One thread
    makes the changes; another may repack.
    """

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        self._writing = Lock()

    @property
    def current(self) -> Dag:
        """The dag of this moment."""
        return self._dag

    @property
    def needs_repack(self) -> bool:
        """Whether an idle moment is well spent on `repack`."""
        return self._dag.needs_repack

    def replace(self, dag: Dag) -> None:
        """Let `dag` hold from now on."""
        with self._writing:
            self._dag = dag

    def repack(self) -> bool:
        """Build the dag anew; False when it was replaced meanwhile, and nothing was done."""
        before = self._dag
        packed = before.repacked()
        with self._writing:
            if self._dag is not before:
                return False
            self._dag = packed
        return True
