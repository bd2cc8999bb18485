"""One change of a dag: the rows that become others, and no more.

A new set of inputs changes the table itself, the list of readers of the inputs that came or went,
and the lineage of its descendants; a descendant whose lineage stays the same ends the walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush

from streamtables.positions import InputId
from streamtables.scheduler.dag_rows import Row, positions_in, source_row
from streamtables.scheduler.shared_map import SharedMap


class Edit:
    """Rows that replace those of a dag; used once."""

    def __init__(
        self, rows: SharedMap[InputId, Row], names: SharedMap[int, InputId], width: int
    ) -> None:
        self._before = rows
        self._names_before = names
        self.rows: dict[InputId, Row | None] = {}
        self.names: dict[int, InputId | None] = {}
        self.width = width
        """The first position that nobody ever had."""

    def set_inputs(self, table: InputId, inputs: tuple[InputId, ...]) -> None:
        """Let `table`, known or not, read `inputs`."""
        row = self._row(table) or Row(self._new_position(table))
        self._move_reader(row, inputs)
        self.rows[table] = replace(row, inputs=inputs)
        self._settle(table)

    def drop(self, table: InputId) -> None:
        """Take away a table that nobody reads."""
        row = self._known(table)
        self._move_reader(row, ())
        self._remove(table, row)

    def _row(self, node: InputId) -> Row | None:
        return self.rows[node] if node in self.rows else self._before.get(node)

    def _known(self, node: InputId) -> Row:
        row = self._row(node)
        assert row is not None
        return row

    def _new_position(self, node: InputId) -> int:
        position = self.width
        self.names[position] = node
        self.width += 1
        return position

    def _remove(self, node: InputId, row: Row) -> None:
        self.rows[node] = None
        self.names[row.position] = None

    def _move_reader(self, reader: Row, inputs: tuple[InputId, ...]) -> None:
        """Note who is read from now on, and who no longer is."""
        for node in set(inputs).difference(reader.inputs):
            row = self._row(node) or source_row(self._new_position(node))
            self.rows[node] = replace(row, readers=row.readers | reader.bit)
        for node in set(reader.inputs).difference(inputs):
            row = self._known(node)
            left = replace(row, readers=row.readers & ~reader.bit)
            self.rows[node] = left
            # A source is known by its readers alone, so it goes with the last of them.
            if left.level == 0 and not left.readers:
                self._remove(node, left)

    def _settle(self, start: InputId) -> None:
        """Bring lineage and level of a table, and of all that stand on it, up to date.

        Levels from before the edit still order the descendants: no edge between them has changed.
        """
        waiting: list[tuple[int, InputId]] = [(0, start)]
        seen = {start}
        while waiting:
            _, node = heappop(waiting)
            row = self._known(node)
            settled = row.standing_on(map(self._known, row.inputs))
            if settled is row:
                continue
            self.rows[node] = settled
            for reader in self._readers(row):
                if reader not in seen:
                    seen.add(reader)
                    heappush(waiting, (self._known(reader).level, reader))

    def _readers(self, row: Row) -> Iterator[InputId]:
        return (self._names_before[position] for position in positions_in(row.readers))
