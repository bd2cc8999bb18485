"""The rows of a dag: one per source and stream table, with sets of others as bits of an integer.

Every node has a position, and a set of nodes is an integer with one bit per position.  A node's
*lineage* is itself and all that it stands on, so most questions are one AND of two integers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import sleep

from streamtables.catalog.dependencies import topological_order
from streamtables.positions import InputId

_ROWS_AT_ONCE = 32
"""Well below a millisecond of work."""


@dataclass(frozen=True, slots=True)
class Row:
    """One node, and whom it reads and is read by."""

    position: int
    inputs: tuple[InputId, ...] = ()
    """What it reads directly, by name, each once."""
    lineage: int = 0
    """Its own bit and those of all its ancestors."""
    readers: int = 0
    """The bits of all that read it directly."""
    level: int = 0
    """0 for a source; for a stream table one more than the highest of its inputs."""

    @property
    def bit(self) -> int:
        """The set that holds only this node."""
        return 1 << self.position

    def standing_on(self, inputs: Iterable[Row]) -> Row:
        """Return the row with lineage and level as they follow from the rows of its inputs."""
        lineage, highest = self.bit, 0
        for row in inputs:
            lineage |= row.lineage
            highest = max(highest, row.level)
        if (lineage, highest + 1) == (self.lineage, self.level):
            return self
        return replace(self, lineage=lineage, level=highest + 1)


def source_row(position: int, readers: int = 0) -> Row:
    """Return the row of a source: it stands on nothing but itself."""
    return Row(position, lineage=1 << position, readers=readers)


def positions_in(bits: int) -> Iterator[int]:
    """Yield the positions of a set, the lowest first."""
    # Peeling off one bit at a time copies the whole integer for each; a text is searched in place.
    text = bin(bits)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def pack(edges: Mapping[InputId, Collection[InputId]]) -> dict[InputId, Row]:
    """Return the rows of edges without a cycle, at positions without gaps."""
    return pack_in_order(edges, topological_order(edges))


def pack_in_order(
    edges: Mapping[InputId, Collection[InputId]], tables: Sequence[InputId], *, gently: bool = False
) -> dict[InputId, Row]:
    """Do the same with `tables` that stand each after all that it reads.

    Gently, threads that look at the dag meanwhile go first.
    """
    sources = sorted({node for inputs in edges.values() for node in inputs} - edges.keys())
    positions = {node: at for at, node in enumerate((*sources, *tables))}
    readers: dict[InputId, int] = {}
    for at, table in enumerate(tables):
        _give_way(at, gently=gently)
        bit = 1 << positions[table]
        for node in edges[table]:
            readers[node] = readers.get(node, 0) | bit
    rows = {node: source_row(positions[node], readers[node]) for node in sources}
    for at, table in enumerate(tables):
        _give_way(at, gently=gently)
        inputs = tuple(sorted(set(edges[table])))
        row = Row(positions[table], inputs, readers=readers.get(table, 0))
        rows[table] = row.standing_on(rows[node] for node in inputs)
    return rows


def _give_way(at: int, *, gently: bool) -> None:
    # A thread that waits gets a whole turn, five milliseconds, for each few rows of this one.
    if gently and at % _ROWS_AT_ONCE == 0:
        sleep(0)
